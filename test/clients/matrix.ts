import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Check, checks } from './scenario.ts'

/** The result of a run for one client. */
export interface Row {
  language: string
  generator: string
  document: string
  failed: readonly string[]
  lacks: Partial<Record<Check, string>>
}

const guide = path.resolve(import.meta.dirname, '../../docs/contributing/testing.md')
const block = /(<!-- measured:clients -->\n\n)([^]*?)(\n\n<!-- \/measured:clients -->)/

/** Replaces the table in the guide. Needs every toolchain: a client that did not run has no row. */
export async function writeTable(rows: readonly Row[]): Promise<void> {
  const text = await readFile(guide, 'utf8')
  await writeFile(
    guide,
    text.replace(block, (_, before: string, __, after: string) => before + print(rows) + after),
  )
}

function print(rows: readonly Row[]): string {
  const head = ['Language', 'Generator', 'OpenAPI', ...checks]
  return [head, head.map(() => '-'), ...rows.map(toCells)].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function toCells({ language, generator, document, failed, lacks }: Row): string[] {
  const results = checks.map((check) => (failed.includes(check) ? `no: it ${lacks[check] ?? 'fails'}` : 'yes'))
  return [language, generator, document, ...results]
}
