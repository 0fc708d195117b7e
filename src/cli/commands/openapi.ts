import { readFile, writeFile } from 'node:fs/promises'
import { localCommand } from '../command.ts'

const file = 'openapi.json'

export const openapi = localCommand({
  name: 'openapi',
  summary: 'Write the OpenAPI document of the public API to openapi.json',
  args: [],
  options: { check: { help: 'Write nothing; exit with 1 if the file is out of date' } },
  examples: ['waybill openapi', 'waybill openapi --check'],
  run: async (_environment, { options, json }) => {
    const outdated = await listOutdated(await printDocuments())
    if (!options.check) for (const { path, text } of outdated) await writeFile(path, text)
    const written = !options.check && outdated.length > 0
    const current = !options.check || outdated.length === 0
    console.log(json ? JSON.stringify({ file, written, current }) : describe(current))
    return current ? 0 : 1
  },
})

function describe(current: boolean): string {
  return current ? `${file} is up to date.` : `${file} is out of date. Write it: waybill openapi`
}

interface Document {
  path: string | URL
  text: string
}

async function listOutdated(documents: Document[]): Promise<Document[]> {
  const found = await Promise.all(
    documents.map(async (document) => {
      const written = await readFile(document.path, 'utf8').catch(() => undefined)
      return written === document.text ? [] : [document]
    }),
  )
  return found.flat()
}

/**
 * In a clone, also returns the other documents that the server serves. A package contains all of them, but not the code
 * that generates them from the contracts.
 */
async function printDocuments(): Promise<Document[]> {
  if (import.meta.url.endsWith('.js'))
    return [{ path: file, text: await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8') }]
  const { printOpenApi } = await import('../../http/openapi/openapi.ts')
  const { [file]: main, ...others } = printOpenApi()
  const served = Object.entries(others).map(([name, text]) => ({
    path: new URL(`../../http/docs/${name}`, import.meta.url),
    text,
  }))
  return [{ path: file, text: main }, ...served]
}
