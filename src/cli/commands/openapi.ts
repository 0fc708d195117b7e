import { readFile, writeFile } from 'node:fs/promises'
import { localCommand } from '../command.ts'

const file = 'openapi.json'

export const openapi = localCommand({
  name: 'openapi',
  summary: `Write the OpenAPI document of the public API to ${file}`,
  args: [],
  options: { check: { help: `Write nothing; exit with 1 if ${file} is out of date` } },
  examples: ['waybill openapi', 'waybill openapi --check'],
  run: async (_environment, { options, json }) => {
    const document = await printDocument()
    const isCurrent = (await readFile(file, 'utf8').catch(() => undefined)) === document
    if (!options.check && !isCurrent) await writeFile(file, document)
    const written = !options.check && !isCurrent
    const outdated = options.check === true && !isCurrent
    const text = outdated ? `${file} is out of date. Write it: waybill openapi` : `${file} is up to date.`
    console.log(json ? JSON.stringify({ file, written, current: !outdated }) : text)
    return outdated ? 1 : 0
  },
})

/** A package contains the built document, but not the code that generates it from the contracts. */
async function printDocument(): Promise<string> {
  if (import.meta.url.endsWith('.js')) return readFile(new URL('../../../openapi.json', import.meta.url), 'utf8')
  const { printOpenApi } = await import('../../http/openapi/openapi.ts')
  return printOpenApi()
}
