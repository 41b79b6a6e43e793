/* Search in pages that were opened from disk: browsers start no workers there, so the one that
 * searches runs in a hidden frame. */
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.loaded = new Promise((resolve) => (frame.onload = resolve));
      document.body.appendChild(frame);
      this.frame = frame.contentWindow;
      this.frame.document.open();
      this.frame.document.write(
        '<script>postMessage = (data) => parent.postMessage(data, "*")</script>' +
          `<script src="${url}"></script>`
      );
      this.frame.document.close();
      addEventListener("message", (event) => {
        if (event.source !== this.frame) return;
        event.stopImmediatePropagation();
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
    }

    postMessage(data) {
      const event = new MessageEvent("message", { data });
      this.loaded.then(() => this.frame.dispatchEvent(event));
    }
  };
}
