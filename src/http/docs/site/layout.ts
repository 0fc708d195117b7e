import { escapeHtml, markdownUrlOf, type Page, urlOf } from './page.ts'
import { contents, referenceSlug } from './contents.ts'

/** The HTML that all documentation pages share: head, header and navigation. */

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M6 1h12a5 5 0 0 1 5 5v8.6a1.6 1.6 0 0 0 0 3.2v.2a5 5 0 0 1-5 5H6a5 5 0 0 1-5-5v-.2a1.6 1.6 0 0 0 0-3.2V6a5 5 0 0 1 5-5z' fill='%230c6b50'/%3E%3Cg fill='none' stroke='white' stroke-linecap='round' stroke-linejoin='round'%3E%3Cpath d='M6 5.6l2.8 6.4L12 6.6l3.2 5.4L18 5.6' stroke-width='2.1'/%3E%3Cpath d='M5.2 16.2h13.6' stroke-width='1.2' stroke-dasharray='.1 2.6'/%3E%3C/g%3E%3C/svg%3E"

const logo = `<svg width="26" height="26" viewBox="0 0 24 24" aria-hidden="true"><path d="M6 1h12a5 5 0 0 1 5 5v8.6a1.6 1.6 0 0 0 0 3.2v.2a5 5 0 0 1-5 5H6a5 5 0 0 1-5-5v-.2a1.6 1.6 0 0 0 0-3.2V6a5 5 0 0 1 5-5z" class="logo"/><g fill="none" stroke="#fff" stroke-linecap="round" stroke-linejoin="round"><path d="M6 5.6l2.8 6.4L12 6.6l3.2 5.4L18 5.6" stroke-width="2.1"/><path d="M5.2 16.2h13.6" stroke-width="1.2" stroke-dasharray=".1 2.6"/></g></svg>`

/** Returns the HTML of a guide or an error page. `titles` has the title of each page in the navigation. */
export function layOutPage(page: Page, titles: ReadonlyMap<string, string>): string {
  const body = `<div class="columns">
<nav class="pages" id="pages" aria-label="Pages">${renderNavigation(page.navigation, titles)}</nav>
<main id="content" tabindex="-1">
<article>
${page.html}
</article>
<footer>${renderNeighbours(page, titles)}<p class="meta"><a href="${markdownUrlOf(page.slug)}">This page as Markdown</a></p></footer>
</main>
${renderOutline(page)}
</div>`
  return layOut({ title: page.slug === '' ? 'Waybill documentation' : `${page.title} · Waybill`, body, page })
}

export function layOutMissing(titles: ReadonlyMap<string, string>): string {
  const body = `<div class="columns">
<nav class="pages" id="pages" aria-label="Pages">${renderNavigation(undefined, titles)}</nav>
<main id="content" tabindex="-1"><article><h1>Page not found</h1>
<p>There is no page at this address. Search the documentation, or start at the <a href="/docs">introduction</a>.</p></article></main>
</div>`
  return layOut({ title: 'Page not found · Waybill', body })
}

/** Returns the page into which Scalar renders the reference. */
export function layOutReference({ isSimulated }: { isSimulated: boolean }): string {
  const body = `<main id="docs"></main>
<noscript><p>The API reference needs JavaScript. The same content for programs and for any OpenAPI viewer: <a href="/openapi.json">openapi.json</a>.</p></noscript>`
  return layOut({ title: 'API reference · Waybill', body, scripts: ['/docs/scalar.js', '/docs/setup.js'], isSimulated })
}

interface Layout {
  title: string
  body: string
  page?: Page
  /** Scripts of the reference, instead of the guides' script. */
  scripts?: readonly string[]
  /** Whether the messages that the reference sends are simulated. */
  isSimulated?: boolean
}

/** The theme script comes before the stylesheets, so that it runs without waiting for them. */
function layOut({ title, body, page, scripts, isSimulated = false }: Layout): string {
  const isReference = scripts !== undefined
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${page ? `<meta name="description" content="${escapeHtml(page.summary)}">\n<link rel="alternate" type="text/markdown" href="${markdownUrlOf(page.slug)}">` : ''}
<link rel="icon" href="${icon}">
<script src="/docs/theme.js"></script>
<link rel="stylesheet" href="/docs/header.css">
${isReference ? '' : '<link rel="stylesheet" href="/docs/site.css">'}
${isReference ? '' : '<script src="/docs/site.js" defer></script>'}
</head>
<body${isReference ? ` class="reference" data-simulated="${isSimulated}"` : ''}>
<a class="skip" href="#${isReference ? 'docs' : 'content'}">Skip to content</a>
${renderHeader(isReference)}
${body}
${(scripts ?? []).map((script) => `<script src="${script}"></script>`).join('\n')}
</body>
</html>
`
}

function renderHeader(isReference: boolean): string {
  const current = ' aria-current="true"'
  const tools = isReference
    ? ''
    : `<button type="button" class="search-open" hidden><span>Search</span> <kbd>/</kbd></button>`
  const menu = isReference
    ? ''
    : `<button type="button" class="menu" aria-expanded="false" aria-controls="pages" hidden>Menu</button>`
  return `<header class="top">
${menu}<a class="brand" href="/docs">${logo}<span>Waybill</span></a>
<nav aria-label="Main"><a href="/docs"${isReference ? '' : current}>Guides</a><a href="${urlOf(referenceSlug)}"${isReference ? current : ''}>API reference</a><a href="/settings/" class="dashboard">Dashboard</a></nav>
<div class="tools">${tools}<button type="button" class="theme" hidden></button></div>
</header>`
}

/** `current` is the slug of the current page. */
function renderNavigation(current: string | undefined, titles: ReadonlyMap<string, string>): string {
  return contents
    .map(({ title, pages, collapsed }) => {
      const links = pages.map(
        ({ slug }) =>
          `<li><a href="${urlOf(slug)}"${slug === current ? ' aria-current="page"' : ''}>${escapeHtml(titles.get(slug) ?? slug)}</a></li>`,
      )
      const list = `<ul>${links.join('')}</ul>`
      if (collapsed !== true) return `<h2>${escapeHtml(title)}</h2>${list}`
      const open = pages.some(({ slug }) => slug === current) ? ' open' : ''
      return `<details${open}><summary>${escapeHtml(title)}</summary>${list}</details>`
    })
    .join('')
}

/** The headings of a long page. */
function renderOutline({ sections }: Page): string {
  const headings = sections.filter(({ level }) => level === 2 || level === 3)
  if (headings.length < 2) return ''
  const links = headings.map(
    ({ id, title, level }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(title)}</a></li>`,
  )
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${links.join('')}</ul></nav>`
}

/** Links to the page before and after this one in the navigation. */
function renderNeighbours({ slug }: Page, titles: ReadonlyMap<string, string>): string {
  const order = contents.flatMap(({ pages }) => pages.map((entry) => entry.slug))
  const index = order.indexOf(slug)
  if (index === -1) return ''
  const link = (neighbour: string | undefined, kind: 'Previous' | 'Next') =>
    neighbour === undefined
      ? '<span></span>'
      : `<a href="${urlOf(neighbour)}" class="${kind.toLowerCase()}"><small>${kind}</small> ${escapeHtml(titles.get(neighbour) ?? '')}</a>`
  return `<nav class="neighbours" aria-label="Previous and next page">${link(order[index - 1], 'Previous')}${link(order[index + 1], 'Next')}</nav>`
}
