import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { chromium, type BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findChromium, flags } from '../browser/chromium.ts'
import { openShopDashboard, type ShopDashboard } from './open-dashboard.ts'
import { galleryPages } from './pages.ts'

/** Scores depend on the version, since each weighs audits differently. */
const lighthouse = 'lighthouse@13.5.0'
const categories = ['performance', 'accessibility', 'best-practices'] as const
const required = 95
const runs = Number(process.env['LIGHTHOUSE_RUNS'] ?? 5)

type Scores = Record<(typeof categories)[number], number>

let opened: ShopDashboard
let folder: string
let browser: BrowserContext
let debuggingPort: number
const table: ({ page: string } & Scores)[] = []

beforeAll(async () => {
  opened = await openShopDashboard()
  folder = await mkdtemp(path.join(tmpdir(), 'waybill-lighthouse-'))
  // Lighthouse opens its pages in the browser's default context, which must have the session.
  browser = await chromium.launchPersistentContext(path.join(folder, 'profile'), {
    executablePath: findChromium(),
    args: [...flags, '--remote-debugging-port=0'],
  })
  await opened.signInTo(browser)
  const [port] = (await readFile(path.join(folder, 'profile/DevToolsActivePort'), 'utf8')).split('\n')
  debuggingPort = Number(port)
})

afterAll(async () => {
  console.table(table)
  await browser?.close()
  await opened?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

test.each(galleryPages.filter(({ signedOut, requests }) => !signedOut && !requests))(
  '$name scores at least 95',
  async ({ name, path: address }) => {
    const url = `${opened.dashboard.server.url}/settings${address(opened.shop)}`
    const all: Scores[] = []
    for (let run = 0; run < runs; run++) all.push(await measure(url))
    const medians = Object.fromEntries(
      categories.map((category) => [category, median(all.map((one) => one[category]))]),
    ) as Scores
    table.push({ page: name, ...medians })
    expect(categories.filter((category) => medians[category] < required)).toEqual([])
  },
)

/** Runs Lighthouse in a separate process, whose clock is not stopped. */
async function measure(url: string): Promise<Scores> {
  const output = path.join(folder, 'report.json')
  const options = [
    '--preset=desktop',
    `--port=${debuggingPort}`,
    `--only-categories=${categories.join(',')}`,
    '--disable-storage-reset',
    '--output=json',
    `--output-path=${output}`,
    '--quiet',
  ]
  await promisify(execFile)('npx', ['--yes', '--ignore-scripts', lighthouse, url, ...options])
  const report = JSON.parse(await readFile(output, 'utf8'))
  if (report.runtimeError) throw new Error(report.runtimeError.message)
  for (const { id, title, score, scoreDisplayMode } of Object.values<Audit>(report.audits))
    if (score !== null && score < 0.9 && scoreDisplayMode !== 'informative') seen.add(`${id}: ${title}`)
  return Object.fromEntries(
    categories.map((category) => [category, Math.round(report.categories[category].score * 100)]),
  ) as Scores
}

interface Audit {
  id: string
  title: string
  score: number | null
  scoreDisplayMode: string
}

/** The audits with room for improvement, regardless of their weight. */
const seen = new Set<string>()
afterAll(() => console.log([...seen].join('\n')))

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
