"""Gradio's folds do not tell a screen reader whether they are open; these lines do, once one is reached."""

SCRIPT = """
<script>
(() => {
  const tell = (event) => {
    const fold = event.target.closest?.("button.label-wrap");
    if (!fold) return;
    fold.querySelector(".icon")?.setAttribute("aria-hidden", "true");
    setTimeout(() => fold.setAttribute("aria-expanded", fold.classList.contains("open")), 50);
  };
  for (const moment of ["focusin", "click"]) document.addEventListener(moment, tell);
})();
</script>
"""
