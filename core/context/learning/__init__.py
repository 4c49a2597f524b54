"""How the detector learns: the written families, their widening, training and teaching."""
