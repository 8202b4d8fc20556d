// Both ends of a frame that is as high as what is in it: in the frame it tells its height, on the page around it sets it.
const NAME = 'commonplace-embed'
const ASK = 'height'

if (window.parent !== window && document.querySelector('[data-embed]')) {
  const tell = () => {
    // A height is no secret, and any page may frame an embed.
    parent.postMessage({ [NAME]: Math.ceil(document.documentElement.getBoundingClientRect().height) }, '*')
  }
  addEventListener('message', ({ data }) => {
    if (data?.[NAME] === ASK) tell()
  })
  new ResizeObserver(tell).observe(document.documentElement)
} else {
  const frames = () => [...document.querySelectorAll('iframe')]
  addEventListener('message', ({ data, source }) => {
    const height = Number(data?.[NAME])
    if (!(height > 0 && height < 20_000)) return
    for (const frame of frames()) if (frame.contentWindow === source) frame.style.height = `${height}px`
  })
  // Frames loaded before this script sent their height too early.
  for (const frame of frames()) {
    if (/\/(?:embed|e)[/?]/.test(frame.src)) frame.contentWindow?.postMessage({ [NAME]: ASK }, '*')
  }
}

export {}
