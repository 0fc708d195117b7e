import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import csharp from 'highlight.js/lib/languages/csharp'
import go from 'highlight.js/lib/languages/go'
import http from 'highlight.js/lib/languages/http'
import java from 'highlight.js/lib/languages/java'
import json from 'highlight.js/lib/languages/json'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import { Marked, type RendererObject, type Token, type Tokens } from 'marked'
import { escapeHtml, type Section } from '../site/page.ts'

interface Links {
  /** Returns the URL of a link or image in the guides. Throws if its target does not exist. */
  resolve: (href: string) => string
  /** Returns the URL of the page that explains a term in a code span, if there is one. */
  explain: (term: string) => string | undefined
}

interface Rendered {
  title: string
  html: string
  sections: Section[]
}

/** Renders GitHub Flavored Markdown. The content between `<!-- tabs -->` and `<!-- /tabs -->` becomes tabs. */
export function renderMarkdown(markdown: string, links: Links): Rendered {
  const anchors = createAnchors()
  const marked = new Marked({ gfm: true, renderer: createRenderer(links) })
  const tokens = marked.lexer(markdown)
  const html: string[] = []
  const sections: Section[] = []
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]
    if (token === undefined) continue
    if (isHeading(token)) {
      const title = plainText(marked.parser([{ ...token, type: 'paragraph' }]))
      const id = anchors(title)
      sections.push({ id: token.depth === 1 ? '' : id, title, level: token.depth, text: '' })
      html.push(renderHeading(token.depth, id, marked.parseInline(token.text) as string))
      continue
    }
    const tabs = isTabs(token) ? takeTabs(tokens, index) : undefined
    if (tabs) index += tabs.length + 1
    const rendered = tabs ? renderTabs(marked, tabs) : marked.parser([token])
    html.push(rendered)
    const section = sections.at(-1)
    if (section) section.text = `${section.text} ${plainText(rendered)}`.trim()
  }
  return { title: sections[0]?.title ?? '', html: html.join('\n'), sections }
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading'
}

/** Generates the anchors of headings as GitHub does. */
function createAnchors(): (title: string) => string {
  const seen = new Map<string, number>()
  return (title) => {
    const base = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
    const count = seen.get(base) ?? 0
    seen.set(base, count + 1)
    return count === 0 ? base : `${base}-${count}`
  }
}

function renderHeading(depth: number, id: string, content: string): string {
  if (depth === 1) return `<h1>${content}</h1>`
  return `<h${depth} id="${id}">${content} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>`
}

function createRenderer({ resolve, explain }: Links): RendererObject {
  // HTML does not allow a link within a link.
  let insideLink = false
  return {
    html: ({ text }) => (/^\s*<!--[\s\S]*-->\s*$/.test(text) ? '' : escapeHtml(text)),
    code: ({ text, lang = '' }) => renderCode(text, lang.split(' ')[0] ?? ''),
    codespan({ text }) {
      const code = renderCodeSpan(text)
      const href = insideLink ? undefined : explain(text)
      return href === undefined ? code : `<a href="${href}">${code}</a>`
    },
    link({ href, tokens }) {
      insideLink = true
      const content = this.parser.parseInline(tokens)
      insideLink = false
      return `<a href="${escapeHtml(resolve(href))}">${content}</a>`
    },
    image: ({ href, text }) => `<img src="${escapeHtml(resolve(href))}" alt="${escapeHtml(text)}" loading="lazy">`,
    table({ header, rows }) {
      const inline = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens)
      const head = header.map((cell) => `<th>${inline(cell)}</th>`).join('')
      // On narrow screens, each row is a block, and each cell shows the title of its column.
      const label = (column: number) => escapeHtml(plainText(header[column]?.text ?? ''))
      const cell = (tokens: Tokens.TableCell, column: number) =>
        `<td data-label="${label(column)}">${inline(tokens)}</td>`
      const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('')
      // Wide tables scroll; the tabindex makes that possible with the keyboard.
      return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`
    },
  }
}

/** Long names and commands may continue on the next line, after these characters or at a space. */
function renderCodeSpan(text: string): string {
  if (text.length <= (text.includes('/') ? 20 : 28)) return `<code>${escapeHtml(text)}</code>`
  const parts = text.split(/(?<=[/._=?@:]+)(?![/._=?@:])/)
  return `<code class="long">${parts.map(escapeHtml).join('<wbr>')}</code>`
}

function renderCode(text: string, language: string): string {
  return `<div class="code"><pre tabindex="0"><code data-language="${escapeHtml(language)}">${highlight(text, language)}</code></pre></div>`
}

function isTabs(token: Token): boolean {
  return token.type === 'html' && token.raw.trim() === '<!-- tabs -->'
}

/** The tokens of the tabs that begin at this index. */
function takeTabs(tokens: Token[], index: number): Token[] {
  const length = tokens.slice(index).findIndex(({ type, raw }) => type === 'html' && raw.trim() === '<!-- /tabs -->')
  if (length === -1) throw new Error('<!-- tabs --> without <!-- /tabs -->')
  return tokens.slice(index + 1, index + length)
}

/** Each tab begins with its label, a paragraph of only bold text. */
function renderTabs(marked: Marked, tokens: Token[]): string {
  const tabs: { label: string; tokens: Token[] }[] = []
  for (const token of tokens) {
    const [, label] = (token.type === 'paragraph' && /^\*\*([^*]+)\*\*\s*$/.exec(token.raw)) || []
    if (label !== undefined) tabs.push({ label, tokens: [] })
    else if (token.type !== 'space') tabs.at(-1)?.tokens.push(token)
  }
  const panels = tabs.map(
    (tab) =>
      `<section class="tab" data-label="${escapeHtml(tab.label)}"><p class="tab-label">${escapeHtml(tab.label)}</p>${marked.parser(tab.tokens)}</section>`,
  )
  return `<div class="tabs">${panels.join('')}</div>`
}

function plainText(html: string): string {
  return html
    .replaceAll(/<\/?(?:a|code|em|span|strong|wbr)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** The languages that code examples may use. Any other is rendered as plain text. */
export const languages = { sh: bash, csharp, go, http, java, json, php, python, ruby, sql, ts: typescript }
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)

/** Returns code as HTML with a class for each kind of token. */
function highlight(code: string, language: string): string {
  return Object.hasOwn(languages, language) ? hljs.highlight(code, { language }).value : escapeHtml(code)
}
