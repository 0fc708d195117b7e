import { readFile, writeFile } from 'node:fs/promises'
import { localCommand } from '../command.ts'

const file = 'openapi.json'

export const openapi = localCommand({
  name: 'openapi',
  summary: 'Write the OpenAPI document of the public API to openapi.json',
  args: [],
  options: { check: { help: 'Write nothing; exit with 1 if the file is out of date' } },
  examples: ['waybill openapi', 'waybill openapi --check'],
  run: async (_environment, { options }) => {
    const document = await printDocument()
    const outdated = (await readFile(file, 'utf8').catch(() => undefined)) !== document
    const written = !options.check && outdated
    if (written) await writeFile(file, document)
    const current = !options.check || !outdated
    const text = current ? `${file} is up to date.` : `${file} is out of date. Write it: waybill openapi`
    return { json: { file, written, current }, text, exitCode: current ? 0 : 1 }
  },
})

/** A package contains the document, but not the code that generates it from the contracts. */
async function printDocument(): Promise<string> {
  if (import.meta.url.endsWith('.js')) return readFile(new URL(`../../../${file}`, import.meta.url), 'utf8')
  const { printOpenApi } = await import('../../http/openapi/openapi.ts')
  return printOpenApi()
}
