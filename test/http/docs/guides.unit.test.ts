import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { documentedErrorCodes } from '../../../contracts/error-help.ts'
import { registerDocs } from '../../../src/http/docs/docs.ts'
import { languages, renderMarkdown } from '../../../src/http/docs/render/markdown.ts'
import { renderPages } from '../../../src/http/docs/render/pages.ts'
import { printOpenApi } from '../../../src/http/openapi/openapi.ts'
import { contents } from '../../../src/http/docs/site/contents.ts'
import { type SearchEntry, urlOf } from '../../../src/http/docs/site/page.ts'
import { explainedCodes } from '../../../src/whatsapp/failure-advice.ts'
import { forFile } from '../../support/lifetime.ts'

const pages = renderPages()
const openApi = JSON.parse(printOpenApi()) as { paths: Record<string, Record<string, { tags: [string] }>> }

const app = await forFile(fastify())
registerDocs(app)

function get(url: string, headers: Record<string, string> = {}) {
  return app.inject({ url, headers })
}

test('serves every page with a policy that allows nothing inline and nothing from elsewhere', async () => {
  for (const { slug } of pages) {
    const response = await get(urlOf(slug))

    expect({ slug, status: response.statusCode }).toEqual({ slug, status: 200 })
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(response.headers['content-security-policy']).not.toMatch(/unsafe|https?:|\*/)
    expect(response.body).not.toMatch(/ style="| on\w+="|<script>|<style|(src|href)="http:/)
    expect(response.body).toContain('<h1>')
  }
})

test('names no version that the next release makes stale', () => {
  const stale = pages.flatMap(({ slug, markdown }) =>
    slug === 'changelog'
      ? []
      : [...markdown.matchAll(/waybill(-client)?[-/@]v?\d+\.\d+\.\d+/gi)].map(([name]) => `${slug}: ${name}`),
  )

  expect(stale).toEqual([])
})

test('serves every page, anchor and file that a page links to', async () => {
  const anchors = new Map<string, Set<string>>()
  const links = new Map<string, string>()
  for (const { slug } of pages) {
    const { body } = await get(urlOf(slug))
    anchors.set(urlOf(slug), new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)))
    for (const [, href = ''] of body.matchAll(/ (?:href|src)="([^"]+)"/g))
      if (/^[/#]/.test(href)) links.set(href.startsWith('#') ? `${urlOf(slug)}${href}` : href, slug)
  }
  expect(links.size).toBeGreaterThan(300)
  const paths = new Set<string>()
  const dead: string[] = []
  for (const [link, slug] of links) {
    const [path = '', anchor] = link.split('#')
    const known = anchors.get(path)
    if (!known) paths.add(path)
    else if (anchor !== undefined && !known.has(anchor)) dead.push(`${slug}: ${link}`)
  }
  // The dashboard is another part of the server.
  paths.delete('/settings/')
  expect([...dead, ...(await findDead([...paths]))]).toEqual([])
})

test('serves every page and anchor that the dashboard links to', async () => {
  const folder = path.join(import.meta.dirname, '../../../src/dashboard')
  const files = await readdir(folder, { recursive: true })
  const sources = await Promise.all(
    files
      .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('built'))
      .map((file) => readFile(path.join(folder, file), 'utf8')),
  )
  const links = sources.flatMap((source) => source.match(/(?<=["'`])\/docs(?:\/[\w#/.-]*)?(?=["'`])/g) ?? [])
  expect(links.length).toBeGreaterThan(5)
  const operations = new Set(
    Object.entries(openApi.paths).flatMap(([route, methods]) =>
      Object.entries(methods).map(
        ([method, { tags }]) => `tag/${tags[0].toLowerCase()}/${method.toUpperCase()}${route}`,
      ),
    ),
  )
  const dead: string[] = []
  for (const link of links) {
    const [page = '', anchor] = link.split('#')
    const { statusCode, body } = await get(page)
    const isAnchor = page === '/docs/api' ? operations.has(anchor ?? '') : body.includes(` id="${anchor}"`)
    if (statusCode !== 200 || (anchor !== undefined && !isAnchor)) dead.push(link)
  }
  expect(dead).toEqual([])
})

function refuse(href: string): never {
  throw new Error(`leads nowhere: ${href}`)
}

async function findDead(urls: readonly string[]): Promise<string[]> {
  const statuses = await Promise.all(urls.map(async (url) => (await get(url)).statusCode))
  return urls.filter((_, index) => statuses[index] !== 200)
}

test('lists every guide exactly once in the navigation', () => {
  const listed = contents.flatMap((group) => group.pages.map(({ slug }) => slug))
  const served = new Set(pages.map(({ slug }) => slug))

  expect(new Set(listed).size).toBe(listed.length)
  expect(listed.filter((slug) => slug !== 'api' && !served.has(slug))).toEqual([])
})

test.each([...documentedErrorCodes, ...explainedCodes.map(String)])(
  '%s has a page that says what to do',
  async (code) => {
    const { statusCode, body } = await get(`/docs/errors/${code}`)

    expect(statusCode).toBe(200)
    expect(body).toMatch(new RegExp(`<h1>(WhatsApp error )?${code}</h1>`))
    expect(body).toContain('id="what-to-do"')
  },
)

test('the page of a WhatsApp error names a recipient that is rejected and one that fails later', async () => {
  const { body } = await get('/docs/errors/131026.md')
  expect(body).toContain('the API returns 422 `MESSAGE_REJECTED`, and `failureCode` contains the code.')

  expect(body).toContain('`15550131026` to get this error in the response, or to `15558000003` to get it by webhook.')
})

test('the example of a rejected message has what the response has', async () => {
  const { body } = await get('/docs/errors/MESSAGE_REJECTED.md')

  expect(body).toMatch(/"messageId": "msg_[0-9a-z]{26}",\n\s*"failureCode": "131026"/)
})

describe('for machines', () => {
  test('every page has a Markdown version that links to Markdown versions', async () => {
    const { headers, body } = await get('/docs/sending.md')

    expect(headers['content-type']).toBe('text/markdown; charset=utf-8')
    expect(body).toMatch(/^# Send messages\n/)
    expect(body).toContain('](/docs/webhooks.md)')
    expect(body).not.toContain('<!--')
    const links = [...body.matchAll(/\]\((\/docs\/[^)#]+)/g)].map(([, link = '']) => link)
    expect(await findDead(links)).toEqual([])
  })

  test('llms.txt lists the pages', async () => {
    const { headers, body } = await get('/llms.txt')

    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(body).toMatch(/^# Waybill\n\n> /)
    const links = [...body.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(20)
    expect(await findDead(links)).toEqual([])
  })

  test('the Markdown and llms.txt have the address of the server in their examples', async () => {
    const other = fastify()
    registerDocs(other, { address: 'https://waybill.example.com' })

    for (const url of ['/docs/sending.md', '/llms.txt']) {
      const { body } = await other.inject(url)
      expect(body).toContain('https://waybill.example.com')
      expect(body).not.toContain('127.0.0.1:3000')
    }
    await other.close()
  })
})

test('the search index has every heading and every operation', async () => {
  const entries = (await get('/docs/search.json')).json<SearchEntry[]>()

  expect(entries).toContainEqual(expect.objectContaining({ url: '/docs/webhooks#guarantees', title: 'Guarantees' }))
  expect(entries).toContainEqual(
    expect.objectContaining({ url: '/docs/api#tag/messages/POST/api/v1/message/send', page: 'API reference' }),
  )
  expect(entries.filter(({ url }) => url === '/docs/errors/131026')).toHaveLength(1)
})

test.each(['batch', 'bulk', 'schedule', 'many recipients'])(
  'the search for "%s" finds how to send many',
  async (text) => {
    const entries = (await get('/docs/search.json')).json<SearchEntry[]>()
    const found = entries.filter((entry) =>
      text.split(' ').every((word) => `${entry.title} ${entry.text}`.toLowerCase().includes(word)),
    )

    expect(found.map(({ url }) => url)).toContain('/docs/sending#send-to-many-recipients')
    expect(found.filter(({ url }) => /benchmarks|testing|decisions/.test(url))).toEqual([])
  },
)

test.each([
  { text: 'unsubscribe', url: '/docs/opt-outs' },
  { text: 'darse de baja', url: '/docs/opt-outs' },
  { text: 'uninstall', url: '/docs/data' },
  { text: 'leave', url: '/docs/data' },
  { text: 'migrate away', url: '/docs/data' },
  { text: 'delete customer data', url: '/docs/data' },
  { text: 'invoice', url: '/docs/costs' },
  { text: 'precios', url: '/docs/costs' },
  { text: 'recoger', url: '/docs/creating-templates' },
])('the search index has "$text" among the words of $url', async ({ text, url }) => {
  const entries = (await get('/docs/search.json')).json<SearchEntry[]>()

  expect(entries.find((entry) => entry.url === url)?.keywords).toContain(text)
})

test('an unknown page returns 404, as HTML to a browser', async () => {
  const page = await get('/docs/nowhere', { accept: 'text/html' })

  expect(page.statusCode).toBe(404)
  expect(page.body).toContain('<h1>Page not found</h1>')
  expect((await get('/docs/errors/NO_SUCH_CODE')).statusCode).toBe(404)
  expect((await get('/docs/../../package.json')).statusCode).toBe(404)
})

test('the URL with a trailing slash redirects to the first page', async () => {
  const response = await get('/docs/')

  expect(response.statusCode).toBe(301)
  expect(response.headers.location).toBe('/docs')
})

describe('Markdown', () => {
  const links = { resolve: (href: string) => href, explain: () => undefined }

  test('headings get the anchors that GitHub gives them', () => {
    const { sections } = renderMarkdown('# One\n\n## `a.b`, and "c"\n\n## Same\n\n## Same', links)

    expect(sections.map(({ id }) => id)).toEqual(['', 'ab-and-c', 'same', 'same-1'])
  })

  test('HTML is escaped', () => {
    expect(renderMarkdown('# A\n\n<script>alert(1)</script>', links).html).not.toContain('<script>')
  })

  test('each tab contains the text after its label', () => {
    const { html } = renderMarkdown(
      '# A\n\n<!-- tabs -->\n\n**Go**\n\n```go\nx\n```\n\n**PHP**\n\nText\n\n<!-- /tabs -->\n\nEnd',
      links,
    )

    expect(html.match(/data-label="(\w+)"/g)).toEqual(['data-label="Go"', 'data-label="PHP"'])
    expect(html).toMatch(/<\/section><\/div>\s*<p>End/)
  })

  test('a dead link fails the build', () => {
    expect(() => renderMarkdown('# A\n\n[b](c.md)', { ...links, resolve: refuse })).toThrow('leads nowhere: c.md')
  })
})

test('every language of a code block has a grammar', () => {
  const used = pages.flatMap(({ markdown }) =>
    [...markdown.matchAll(/^```(\w+)/gm)].map(([, language = '']) => language),
  )

  expect(used.filter((language) => language !== 'text' && !Object.hasOwn(languages, language))).toEqual([])
})
