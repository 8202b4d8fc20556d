// Both ends of a frame that is as high as what is in it: in the frame it tells its height, on the page around it sets it.
const NAME = 'commonplace-embed'
const ASK = 'height'

if (document.querySelector('[data-embed]')) {
  if (window.parent !== window) {
    const tell = () => {
      // A height is no secret, and any page may frame an embed.
      parent.postMessage({ [NAME]: Math.ceil(document.documentElement.getBoundingClientRect().height) }, '*')
    }
    addEventListener('message', ({ data }) => {
      if (data?.[NAME] === ASK) tell()
    })
    new ResizeObserver(tell).observe(document.documentElement)
  }
  // Blanks are filled where they stand, all of one name together, and the text is copied with them.
  const prompt = document.querySelector('.prompt')
  const copy = document.querySelector<HTMLButtonElement>('[data-copy]')
  for (const mark of copy ? document.querySelectorAll<HTMLElement>('[data-name]') : []) {
    const blank = document.createElement('textarea')
    const name = mark.dataset['name'] ?? ''
    blank.rows = 1
    blank.value = mark.classList.contains('given') ? mark.innerText : ''
    blank.placeholder = name
    blank.ariaLabel = name
    blank.oninput = () => {
      for (const other of document.querySelectorAll('textarea')) if (other.placeholder === name) other.value = blank.value
    }
    mark.replaceWith(blank)
  }
  const read = () =>
    [...(prompt?.childNodes ?? [])]
      .map((node) => (node instanceof HTMLTextAreaElement ? node.value || `\${${node.placeholder}}` : node.textContent))
      .join('')
  if (copy) {
    copy.hidden = false
    copy.onclick = () => {
      // A frame may not write to the clipboard unless its page allows it; a selection can always be copied.
      const area = document.createElement('textarea')
      area.value = read()
      copy.before(area)
      area.select()
      document.execCommand('copy')
      area.remove()
      copy.textContent = copy.dataset['copy'] ?? ''
    }
  }
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
