// Opened as files, pages may not start workers: there the search runs in a hidden frame. Served, this does nothing.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.appendChild(frame)
      this.inner = frame.contentWindow
      this.inner.answer = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = new Promise(resolve => { this.inner.begun = resolve })
      this.inner.document.open()
      this.inner.document.write(
        `<!doctype html><script>window.postMessage = data => window.answer(data)</script>` +
        `<script src="${url}"></script><script>window.begun()</script>`
      )
      this.inner.document.close()
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })))
    }
  }
}
