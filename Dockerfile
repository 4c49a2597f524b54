FROM python:3.11-slim

RUN useradd --create-home --uid 1000 studio \
    && mkdir /data && chown studio:studio /data

USER 1000
WORKDIR /home/studio/app
ENV PATH=/home/studio/.local/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    GRADIO_TEMP_DIR=/data/uploads \
    TMPDIR=/data \
    SUBMIX_HOST=0.0.0.0 \
    SUBMIX_PORT=7860 \
    SUBMIX_DATA_DIR=/data \
    SUBMIX_CACHE_DIR=/home/studio/models

COPY --chown=studio requirements.txt .
RUN pip install --user --requirement requirements.txt

COPY --chown=studio . .
RUN python -m core models

VOLUME /data
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:7860/', timeout=4)"]
CMD ["python", "app.py"]
