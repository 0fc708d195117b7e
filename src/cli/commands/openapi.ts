import { readFile, writeFile } from 'node:fs/promises'
import type { printOpenApi } from '../../http/openapi/openapi.ts'
import { localCommand } from '../command.ts'

type Files = ReturnType<typeof printOpenApi>

const file = 'openapi.json'
const names = [file, 'openapi.yaml', 'openapi-3.0.json'] as const satisfies (keyof Files)[]

export const openapi = localCommand({
  name: 'openapi',
  summary: `Write the OpenAPI document of the public API to ${new Intl.ListFormat('en').format(names)}`,
  args: [],
  options: { check: { help: 'Write nothing; exit with 1 if a file is out of date' } },
  examples: ['waybill openapi', 'waybill openapi --check'],
  run: async (_environment, { options, json }) => {
    const files = await printFiles()
    const outdated = await listOutdated(files)
    if (!options.check) for (const name of outdated) await writeFile(name, files[name])
    const written = !options.check && outdated.length > 0
    const current = !options.check || outdated.length === 0
    console.log(json ? JSON.stringify({ file, written, current, files: names }) : describe(current ? [] : outdated))
    return current ? 0 : 1
  },
})

function describe(outdated: string[]): string {
  const list = new Intl.ListFormat('en').format(outdated.length === 0 ? names : outdated)
  return outdated.length === 0 ? `${list} are up to date.` : `Out of date: ${list}. Write them: waybill openapi`
}

async function listOutdated(files: Files): Promise<(keyof Files)[]> {
  const found = await Promise.all(
    names.map(async (name) => ((await readFile(name, 'utf8').catch(() => undefined)) === files[name] ? [] : [name])),
  )
  return found.flat()
}

/** A package contains the built documents, but not the code that generates them from the contracts. */
async function printFiles(): Promise<Files> {
  if (!import.meta.url.endsWith('.js')) return (await import('../../http/openapi/openapi.ts')).printOpenApi()
  const read = (name: keyof Files) => readFile(new URL(`../../../${name}`, import.meta.url), 'utf8')
  return {
    'openapi.json': await read('openapi.json'),
    'openapi.yaml': await read('openapi.yaml'),
    'openapi-3.0.json': await read('openapi-3.0.json'),
  }
}
