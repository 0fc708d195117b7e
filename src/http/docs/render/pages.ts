import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { documentedErrorCodes } from '../../../../contracts/error-help.ts'
import { explainedCodes } from '../../../whatsapp/failure-advice.ts'
import { contents, referenceSlug } from '../site/contents.ts'
import { markdownUrlOf, type Page, urlOf } from '../site/page.ts'
import { writeErrorPages } from './error-pages.ts'
import { renderMarkdown } from './markdown.ts'

const docs = fileURLToPath(new URL('../../../../docs', import.meta.url))

/** A page before rendering. Its links are relative to `file`, a path in `docs/`. */
interface Draft {
  slug: string
  file: string
  summary: string
  navigation: string
  markdown: string
}

/** Renders every page. Throws if a link between pages is broken. */
export function renderPages(): Page[] {
  const written = readGuides()
  const drafts = [...written, ...draftErrorPages(written)]
  const slugs = new Map(drafts.map(({ file, slug }) => [file, slug]))
  const pages = drafts.map((draft) => renderPage(draft, slugs))
  checkAnchors(pages)
  return pages
}

function readGuides(): Draft[] {
  return contents
    .flatMap((group) => group.pages)
    .flatMap(({ slug, file, summary }) =>
      file === undefined ? [] : [{ slug, file, summary, navigation: slug, markdown: read(file) }],
    )
}

function draftErrorPages(written: readonly Draft[]): Draft[] {
  const byName = new Map(written.map((draft) => [path.basename(draft.file), draft]))
  const link = (guide: string) => {
    const [name = '', anchor] = guide.split('#')
    const { file = name, markdown = '' } = byName.get(name) ?? {}
    return `[${titleOf(markdown)}](../${file}${anchor === undefined ? '' : `#${anchor}`})`
  }
  return writeErrorPages(link).map(({ code, summary, markdown }) => ({
    slug: `errors/${code}`,
    // No such file exists. The path makes links relative to the guides folder.
    file: `guides/${code}.error`,
    summary,
    navigation: 'errors',
    markdown,
  }))
}

function titleOf(markdown: string): string {
  return /^# (.+)$/m.exec(markdown)?.[1] ?? ''
}

function read(file: string): string {
  return readFileSync(path.join(docs, file), 'utf8')
}

function renderPage({ slug, file, summary, navigation, markdown }: Draft, slugs: ReadonlyMap<string, string>): Page {
  const target = (href: string) => findTarget(href, file, slugs)
  const resolve = (href: string) => {
    const found = target(href)
    if (found === undefined) throw new Error(`${file}: the link ${href} is broken`)
    return found.slug === undefined ? found.url : `${urlOf(found.slug)}${found.anchor}`
  }
  const explain = (term: string) => (term === slug.replace('errors/', '') ? undefined : terms.get(term))
  const rendered = renderMarkdown(markdown, { resolve, explain })
  return { slug, summary, navigation, ...rendered, markdown: linkMarkdown(markdown, target) }
}

/** Files that the server has beside its code and serves below `/docs/`. */
const servedFiles = '../src/http/docs/'

type Target = { slug: string; anchor: string } | { slug?: undefined; url: string }

/** Finds the target of a link: a page, an image or other served file, or another site. Undefined if the link is broken. */
function findTarget(href: string, file: string, slugs: ReadonlyMap<string, string>): Target | undefined {
  if (/^(https?:|mailto:|#)/.test(href)) return { url: href }
  const [target = '', anchor] = href.split('#')
  const linked = path.relative('docs', path.join('docs', path.dirname(file), target))
  if (linked.startsWith('guides/images/')) return { url: `/docs/${linked.slice('guides/'.length)}` }
  if (linked.startsWith(servedFiles)) return { url: `/docs/${linked.slice(servedFiles.length)}` }
  const slug = slugs.get(linked)
  return slug === undefined ? undefined : { slug, anchor: anchor === undefined ? '' : `#${anchor}` }
}

/** Returns Markdown for machines: links between pages point to their Markdown versions, and comments are removed. */
function linkMarkdown(markdown: string, target: (href: string) => Target | undefined): string {
  return markdown
    .replaceAll(/\]\(([^)\s]+)\)/g, (whole, href: string) => {
      const found = target(href)
      if (found === undefined) return whole
      return `](${found.slug === undefined ? found.url : `${markdownUrlOf(found.slug)}${found.anchor}`})`
    })
    .replaceAll(/<!--.*?-->\n*/g, '')
}

/** Code spans that link to a page. */
const terms: ReadonlyMap<string, string> = new Map([
  ...documentedErrorCodes.map((code) => [code, urlOf(`errors/${code}`)] as const),
  // A number with fewer digits may not be an error code.
  ...explainedCodes.filter((code) => code > 9999).map((code) => [String(code), urlOf(`errors/${code}`)] as const),
  ['/docs/api', urlOf(referenceSlug)],
  ['/openapi.json', '/openapi.json'],
  ['/llms.txt', '/llms.txt'],
])

/** Throws if a link names an anchor that its page does not have. */
function checkAnchors(pages: readonly Page[]): void {
  const anchors = new Set(pages.flatMap(({ slug, sections }) => sections.map(({ id }) => `${urlOf(slug)}#${id}`)))
  for (const { slug, html } of pages)
    for (const [, href = ''] of html.matchAll(/href="([^"]*#[^"]*)"/g)) {
      const absolute = href.startsWith('#') ? `${urlOf(slug)}${href}` : href
      if (absolute.startsWith('/docs') && !absolute.startsWith(`${urlOf(referenceSlug)}#`) && !anchors.has(absolute))
        throw new Error(`${slug}: there is no anchor ${href}`)
    }
}
