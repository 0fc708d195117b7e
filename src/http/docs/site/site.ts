import { existsSync, readFileSync } from 'node:fs'
import { restContracts } from '../../../../contracts/index.ts'
import { listProcedures } from '../../../../contracts/procedure.ts'
import { contents, referenceSlug } from './contents.ts'
import { layOutMissing, layOutPage } from './layout.ts'
import { markdownUrlOf, type Page, type SearchEntry, urlOf } from './page.ts'

/** The rendered guides: every file by its URL. */
export interface Site {
  files: ReadonlyMap<string, SiteFile>
  /** HTML for a URL without a page. */
  missing: string
}

export interface SiteFile {
  contentType: string
  content: string
}

/** Written by the build. A clone of the repository renders its Markdown instead. */
export const renderedPagesFile = new URL('pages.json', import.meta.url)

/** Undefined if neither rendered pages nor the renderer are installed. */
export async function loadSite(): Promise<Site | undefined> {
  const pages = await loadPages()
  return pages && buildSite(pages)
}

async function loadPages(): Promise<Page[] | undefined> {
  // Only the build writes this file.
  if (existsSync(renderedPagesFile)) return JSON.parse(readFileSync(renderedPagesFile, 'utf8')) as Page[]
  try {
    const { renderPages } = await import('../render/pages.ts')
    return renderPages()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

function buildSite(pages: readonly Page[]): Site {
  const titles = new Map([...pages.map(({ slug, title }) => [slug, title] as const), [referenceSlug, 'API reference']])
  const files = new Map<string, SiteFile>()
  for (const page of pages) {
    files.set(urlOf(page.slug), { contentType: 'text/html; charset=utf-8', content: layOutPage(page, titles) })
    files.set(markdownUrlOf(page.slug), { contentType: 'text/markdown; charset=utf-8', content: page.markdown })
  }
  const index = JSON.stringify(listSearchEntries(pages))
  files.set('/docs/search.json', { contentType: 'application/json; charset=utf-8', content: index })
  files.set('/llms.txt', { contentType: 'text/plain; charset=utf-8', content: writeLlmsTxt(titles) })
  return { files, missing: layOutMissing(titles) }
}

/** One entry per section, and one per operation of the reference. */
function listSearchEntries(pages: readonly Page[]): SearchEntry[] {
  const keywords = new Map(contents.flatMap((group) => group.pages).map((entry) => [entry.slug, entry.keywords]))
  const sections = pages.flatMap((page) =>
    page.sections.map(({ id, title, text }) => ({
      url: `${urlOf(page.slug)}${id === '' ? '' : `#${id}`}`,
      page: page.title,
      title,
      text,
      ...(id === '' && keywords.get(page.slug) !== undefined && { keywords: keywords.get(page.slug) }),
    })),
  )
  const operations = listProcedures(restContracts).map(({ contract }) => ({
    url: `${urlOf(referenceSlug)}#tag/${contract.tag.toLowerCase()}/${contract.method}${contract.path}`,
    page: 'API reference',
    title: `${contract.method} ${contract.path}`,
    text: contract.summary,
  }))
  return [...sections, ...operations]
}

/** An index for language models (llmstxt.org). */
function writeLlmsTxt(titles: ReadonlyMap<string, string>): string {
  const groups = contents.map(({ title, pages }) => {
    const links = pages.map(({ slug, summary }) => {
      const url = slug === referenceSlug ? '/openapi.json' : markdownUrlOf(slug)
      return `- [${titles.get(slug) ?? slug}](${url}): ${summary}`
    })
    return `## ${title}\n\n${links.join('\n')}`
  })
  return `# Waybill\n\n> Self-hosted service that sends pre-approved WhatsApp template messages over one HTTP call and reports delivery, reads and failures by signed webhook.\n\nEach error code has a page at /docs/errors/CODE.md. The examples use http://127.0.0.1:3000: replace it by the address of the server that serves this file.\n\n${groups.join('\n\n')}\n`
}
