/* Menu, tabs, copy buttons and search of the guides. Every page is readable without JavaScript. */

const root = document.documentElement
const $ = (selector) => document.querySelector(selector)

/** Creates an element with properties and children. */
function element(name, properties = {}, ...children) {
  const created = Object.assign(document.createElement(name), properties)
  created.append(...children)
  return created
}

// Redirect links from an earlier version, when the reference was at /docs.
if (location.pathname === '/docs' && /^#(tag|description|model|models|webhook)(\/|$)/.test(location.hash))
  location.replace(`/docs/api${location.hash}`)

// Menu on narrow screens

const menuButton = $('.menu')
menuButton.hidden = false
function setMenu(open) {
  root.classList.toggle('menu-open', open)
  menuButton.ariaExpanded = String(open)
}
menuButton.addEventListener('click', () => setMenu(!root.classList.contains('menu-open')))
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !root.classList.contains('menu-open')) return
  setMenu(false)
  menuButton.focus()
})

// Snippets call the server that serves these pages.

const exampleUrl = 'http://127.0.0.1:3000'
if (location.origin !== exampleUrl)
  for (const code of document.querySelectorAll('pre code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(exampleUrl, location.origin)
  }

// Copy buttons

for (const block of document.querySelectorAll('.code')) {
  const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(block.querySelector('code').textContent.trimEnd()).then(
      () => true,
      () => false,
    )
    button.textContent = copied ? 'Copied' : 'Not allowed'
    setTimeout(() => (button.textContent = 'Copy'), 2000)
  })
  // Before the code, so that on a narrow screen its lines flow around the button.
  block.querySelector('pre').prepend(button)
}

// Language tabs (WAI-ARIA Authoring Practices, Tabs). The selected language applies to all pages.

const languageKey = 'waybill-docs-language'
const groups = [...document.querySelectorAll('.tabs')].map((container, group) => {
  const panels = [...container.children]
  const list = element('div', { className: 'tab-list', role: 'tablist', ariaLabel: 'Language' })
  const tabs = panels.map((panel, index) => {
    panel.id = `tab-${group}-${index}`
    panel.role = 'tabpanel'
    const tab = element('button', {
      type: 'button',
      role: 'tab',
      textContent: panel.dataset.label,
      id: `${panel.id}-label`,
    })
    tab.setAttribute('aria-controls', panel.id)
    panel.setAttribute('aria-labelledby', tab.id)
    tab.addEventListener('click', () => chooseLanguage(panel.dataset.label, container))
    return tab
  })
  list.append(...tabs)
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length)
    next.click()
    next.focus()
    event.preventDefault()
  })
  container.prepend(list)
  container.classList.add('ready')
  const show = (label) => {
    const chosen = Math.max(
      0,
      panels.findIndex((panel) => panel.dataset.label === label),
    )
    if (panels[chosen].dataset.label !== label && !tabs.every((tab) => tab.ariaSelected === null)) return
    panels.forEach((panel, index) => (panel.hidden = index !== chosen))
    tabs.forEach((tab, index) => {
      tab.ariaSelected = String(index === chosen)
      tab.tabIndex = index === chosen ? 0 : -1
    })
  }
  show(localStorage.getItem(languageKey))
  return { show }
})

/** Switches all tab groups on the page, and scrolls so that the clicked tab keeps its position on the screen. */
function chooseLanguage(label, clicked) {
  const before = clicked.getBoundingClientRect().top
  localStorage.setItem(languageKey, label)
  for (const { show } of groups) show(label)
  scrollBy({ top: clicked.getBoundingClientRect().top - before, behavior: 'instant' })
}

// Mark the current heading in the outline

const outline = new Map([...document.querySelectorAll('.outline a')].map((link) => [link.hash.slice(1), link]))
if (outline.size > 0) {
  const headings = [...document.querySelectorAll('article :is(h2, h3)')].filter(({ id }) => outline.has(id))
  const mark = () => {
    const current = headings.findLast((heading) => heading.getBoundingClientRect().top < 120) ?? headings[0]
    for (const [id, link] of outline) link.toggleAttribute('data-current', id === current.id)
  }
  document.addEventListener('scroll', mark, { passive: true })
  mark()
}

// Search

const maxResults = 12
let index
async function loadIndex() {
  index ??= fetch('/docs/search.json').then(async (response) =>
    (await response.json()).map((entry) => ({
      ...entry,
      inTitle: fold(entry.title),
      inPage: fold(entry.page),
      inText: fold(entry.text),
      inKeywords: fold(entry.keywords ?? '').split(' '),
    })),
  )
  return index
}

/** In lower case and without accents. */
function fold(text) {
  return text.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '')
}

/** Left out of questions such as "how much does a message cost", in the languages of the keywords. */
const emptyWords = new Set(
  [
    'a an and are be can do does for from how i in is it me much my of on the to what where',
    'al como cual cuanta cuanto de del donde el en es hay la las lo los mi para por puedo que se son un una y',
  ].flatMap((words) => words.split(' ')),
)

function wordsOf(query) {
  const words = fold(query)
    .split(/[\s¿?¡!]+|[.,](?=\s|$)/)
    .filter(Boolean)
  const rest = words.filter((word) => !emptyWords.has(word))
  return (rest.length === 0 || words.length === 1 ? words : rest).map(stem)
}

/** Without the ending of a plural, so that "retry" finds "retries" and "templates" finds "template". */
function stem(word) {
  return word.length > 4 ? word.replace(/(ies|y|(?<!s)s)$/, '') : word
}

/**
 * Returns the entries that contain every word or, if there are none, those with the most words. Best matches come first,
 * and matches in headings score highest.
 */
function findEntries(entries, query) {
  const words = wordsOf(query)
  const matches = entries.map((entry) => ({ entry, words, ...match(entry, words) })).filter(({ found }) => found > 0)
  const most = Math.max(...matches.map(({ found }) => found))
  return matches
    .filter(({ found }) => found === most)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, maxResults)
}

/** Returns how many of the words an entry contains, and how well they match. */
function match(entry, words) {
  const scores = words.map((word) => scoreOf(entry, word)).filter((score) => score > 0)
  const score = scores.reduce((sum, one) => sum + one, 0)
  // All error pages have the same headings, so their sections come last.
  const isErrorSection = entry.url.startsWith('/docs/errors/') && entry.url.includes('#')
  return { found: scores.length, score: isErrorSection ? score / 40 : score }
}

function scoreOf({ inTitle, inPage, inText, inKeywords }, word) {
  if (stem(inTitle) === word) return 40
  if (inTitle.startsWith(word) || inKeywords.some((one) => one.startsWith(word))) return 14
  if (inTitle.includes(word)) return 9
  if (inPage.includes(word)) return 5
  return inText.includes(word) ? 1 + Math.min(4, inText.split(word).length - 2) : 0
}

function describeResult(query, found) {
  if (query.trim() === '') return 'Type to search. Enter opens a result.'
  const [best] = found
  if (!best) return 'No results.'
  return best.found < best.words.length ? 'No section has all of these words. These have most of them.' : ''
}

/** The text around the first word, with every word marked. */
function excerptOf({ text, inText }, words) {
  const found = words.map((word) => inText.indexOf(word)).filter((position) => position !== -1)
  const start = Math.max(0, Math.min(...found, text.length) - 40)
  const from = found.length === 0 ? 0 : start === 0 ? 0 : text.indexOf(' ', start) + 1
  return markWords(`${from > 0 ? '… ' : ''}${text.slice(from, from + 140)}`, words)
}

function markWords(text, words) {
  const escaped = words.map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
  const parts = text.split(new RegExp(`((?:${escaped.join('|')})(?:ies|y|s)?)`, 'gi'))
  return parts.map((part, index) => (index % 2 === 1 ? element('mark', { textContent: part }) : part))
}

const dialog = element('dialog', { className: 'search', ariaLabel: 'Search' })
const input = element('input', {
  type: 'search',
  placeholder: 'Search guides, errors and operations',
  ariaLabel: 'Search the documentation',
  autocomplete: 'off',
  spellcheck: false,
  role: 'combobox',
  ariaExpanded: 'false',
  ariaAutoComplete: 'list',
})
input.setAttribute('aria-controls', 'search-results')
const results = element('div', { id: 'search-results', role: 'listbox', ariaLabel: 'Results' })
const state = element('p', { className: 'search-state', role: 'status' })
dialog.append(input, results, state)
document.body.append(dialog)

let selected = 0
function select(index) {
  const options = [...results.children]
  selected = options.length === 0 ? 0 : (index + options.length) % options.length
  options.forEach((option, current) => (option.ariaSelected = String(current === selected)))
  const option = options[selected]
  if (option) input.setAttribute('aria-activedescendant', option.id)
  else input.removeAttribute('aria-activedescendant')
  option?.scrollIntoView({ block: 'nearest' })
}

async function search() {
  const query = input.value
  const entries = await loadIndex().catch(() => undefined)
  if (input.value !== query) return
  if (entries === undefined) {
    index = undefined
    state.textContent = 'The search index could not be loaded. Try again.'
    return
  }
  const found = findEntries(entries, query)
  results.replaceChildren(
    ...found.map(({ entry, words }, position) => {
      const title = entry.title === entry.page ? [] : [element('span', { className: 'search-page' }, entry.page)]
      const link = element(
        'a',
        { href: entry.url, id: `search-result-${position}`, role: 'option', tabIndex: -1 },
        ...title,
        element('strong', {}, ...markWords(entry.title, words)),
        element('small', {}, ...excerptOf(entry, words)),
      )
      link.addEventListener('click', () => dialog.close())
      return link
    }),
  )
  input.ariaExpanded = String(found.length > 0)
  state.textContent = describeResult(query, found)
  select(0)
}

function openSearch() {
  if (dialog.open) return
  dialog.showModal()
  input.select()
  void search()
}

input.addEventListener('input', search)
input.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step !== undefined) {
    select(selected + step)
    event.preventDefault()
  }
  if (event.key === 'Enter') results.children[selected]?.click()
})
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close())

const searchButton = $('.search-open')
searchButton.hidden = false
searchButton.addEventListener('click', openSearch)
document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '')
  const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey)
  if (!isShortcut && (event.key !== '/' || isTyping)) return
  event.preventDefault()
  openSearch()
})
