// The pages' content policy lets no script write styles as text, neither as an element nor as an attribute. The API reference does both:
// here the same styles are given to the browser as objects, which the policy allows.

const createElement = document.createElement.bind(document)
Object.defineProperty(document, 'createElement', {
  value(name: string, options?: ElementCreationOptions) {
    if (name !== 'style') return createElement(name, options)
    const place = createElement('span')
    place.hidden = true
    const sheet = new CSSStyleSheet()
    document.adoptedStyleSheets.push(sheet)
    new MutationObserver(() => sheet.replaceSync(place.textContent)).observe(place, { childList: true, characterData: true, subtree: true })
    return place
  },
})
const setAttribute = Element.prototype.setAttribute
Object.defineProperty(Element.prototype, 'setAttribute', {
  value(this: Element, name: string, value: string) {
    if (name === 'style' && (this instanceof HTMLElement || this instanceof SVGElement)) this.style.cssText = value
    else setAttribute.call(this, name, value)
  },
})

export {}
