#!/usr/bin/env node
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { defaultOutput } from '../types/generate.ts'
import { TypesError, updateTypes } from './types.ts'

const usage = `Usage:
  waybill-client types --url URL [--api-key KEY] [--account-id WA] [--output FILE] [--check]

Writes TypeScript declarations of the account's approved templates, so that a misspelled template, a missing variable
or a wrong language does not compile.

Options:
  --url URL        URL of the Waybill server (default: WAYBILL_URL)
  --api-key KEY    The API key (default: WAYBILL_API_KEY, which process lists do not show)
  --account-id WA  Templates of this WhatsApp account instead of the default one
  --output FILE    Where to write (default: ${defaultOutput})
  --check          Write nothing; exit with 1 and name the templates if the file is out of date
  --help           Show this text
  --version        Show the version`

const options = {
  url: { type: 'string' },
  'api-key': { type: 'string' },
  'account-id': { type: 'string' },
  output: { type: 'string' },
  check: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const

process.exitCode = await main(process.argv.slice(2), process.env)

async function main(argv: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  try {
    const { values, positionals } = parse(argv)
    if (values.version) return print(await readVersion())
    if (values.help) return print(usage)
    if (positionals.length !== 1 || positionals[0] !== 'types') throw usageError('The command is missing: types.')
    const result = await updateTypes({
      url: require(values.url ?? environment['WAYBILL_URL'], '--url is missing.'),
      apiKey: require(values['api-key'] ??
        environment['WAYBILL_API_KEY'], 'The API key is missing: set WAYBILL_API_KEY.'),
      accountId: values['account-id'],
      output: values.output ?? defaultOutput,
      isCheck: values.check === true,
    })
    print(result.text)
    return result.isCurrent ? 0 : 1
  } catch (error) {
    if (!(error instanceof TypesError)) throw error
    console.error(error.isUsage ? `${error.message}\n\n${usage}` : error.message)
    return error.isUsage ? 2 : 1
  }
}

function parse(argv: string[]) {
  try {
    return parseArgs({ args: argv, options, allowPositionals: true })
  } catch (error) {
    throw error instanceof TypeError ? usageError(`${error.message.split('. ')[0]}.`) : error
  }
}

function require(value: string | undefined, problem: string): string {
  if (value === undefined || value === '') throw usageError(problem)
  return value
}

function usageError(message: string): TypesError {
  return new TypesError(message, { isUsage: true })
}

async function readVersion(): Promise<string> {
  const file = new URL(import.meta.resolve('waybill-client/package.json'))
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string }
  return version
}

function print(text: string): number {
  console.log(text)
  return 0
}
