/**
 * `npm run guides` writes the tables of the guides from their sources; with `--check` it only compares them. A table is
 * enclosed by `<!-- generated:name -->` and `<!-- /generated:name -->`.
 */
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Registry } from 'prom-client'
import { inEnglish } from '../../contracts/facts/fact.ts'
import { apiErrorCodes, describeError } from '../../contracts/errors.ts'
import { contracts, restContracts } from '../../contracts/index.ts'
import { optInWords, optOutWords } from '../../contracts/opt-out-words.ts'
import { type ApiProcedure, listProcedures } from '../../contracts/procedure.ts'
import { buildApp } from '../app.ts'
import { formatUsage } from '../cli/help.ts'
import { commands } from '../cli/main.ts'
import type { ApiCall } from '../http/api/authorize.ts'
import { apiHandlers } from '../http/api/handlers.ts'
import { pairProcedures } from '../pipeline/procedures.ts'
import { listTools } from '../http/mcp/tools.ts'
import { registerProcessMetrics } from '../cli/processes/supervised-process.ts'
import { registerClockMetric } from '../background/clock-watch.ts'
import {
  countSends,
  registerChatMetric,
  registerEmailMetric,
  registerOutcomesUnknownMetric,
  registerRequestLogMetric,
} from '../http/ops/metrics.ts'
import { createServer } from '../http/server.ts'
import { readConfig } from '../platform/config.ts'
import { Environment, secretVariables } from '../platform/environment.ts'
import { createLogger } from '../platform/log.ts'
import { registerWorkerMetrics } from '../webhooks/queue/metrics.ts'
import { adviseOnFailure, explainedCodes } from '../whatsapp/failure-advice.ts'
import { sandboxRecipients } from '../whatsapp/simulator/messages/recipients.ts'
import { sandboxMedia } from '../whatsapp/simulator/media.ts'
import { reviewedNames } from '../whatsapp/simulator/templates/template-review.ts'
import { sandboxTokens } from '../whatsapp/simulator/onboarding/sandbox-tokens.ts'

const docs = path.resolve(import.meta.dirname, '../../docs')

type Cell = string | number

const tables: Record<string, () => string | Promise<string>> = {
  procedures: () =>
    formatTable(
      ['Procedure', 'REST', 'What it does'],
      listProcedures(restContracts).map(({ name, contract }) => [
        code(name),
        code(`${contract.method} ${contract.path}`),
        contract.summary,
      ]),
    ),
  filters: () =>
    formatTable(
      ['List', 'Filters'],
      listProcedures(restContracts).flatMap(({ name, contract }) => {
        const fields = Object.keys(contract.input.shape)
        const filters = fields.filter((field) => !['cursor', 'limit', 'format'].includes(field))
        return fields.includes('cursor') ? [[code(name), filters.map(code).join(', ')]] : []
      }),
    ),
  tools: () =>
    formatTable(
      ['Tool', 'What it does', 'Annotations'],
      listTools(pairProcedures<ApiProcedure, ApiCall>(contracts, apiHandlers)).map(
        ({ description: { name, title, annotations } }) => [
          code(name),
          title,
          (['readOnlyHint', 'idempotentHint'] as const)
            .filter((name) => annotations[name])
            .map(code)
            .join(', '),
        ],
      ),
    ),
  errors: () =>
    formatTable(
      ['Code', 'HTTP', 'When'],
      apiErrorCodes.map((name) => {
        const { status, summary } = describeError(name)
        return [code(name), status, summary]
      }),
    ),
  whatsappErrors: () =>
    formatTable(
      ['Code', 'Meaning', 'What to do'],
      explainedCodes.map((number) => {
        const { meaning, advice } = adviseOnFailure({ code: String(number), message: '' })
        return [code(String(number)), meaning, advice]
      }),
    ),
  commands: () =>
    formatTable(
      ['Command', 'What it does'],
      commands.map((command) => [code(formatUsage(command).replace(/^waybill | \[--json\]$/g, '')), command.summary]),
    ),
  optOutWords: () => formatWords(optOutWords),
  optInWords: () => formatWords(optInWords),
  recipients: () =>
    formatTable(
      ['Recipient', 'What happens'],
      sandboxRecipients.map(({ to, does }) => [code(to), inEnglish(does)]),
    ),
  media: () =>
    formatTable(
      ['File', 'What happens'],
      sandboxMedia.map(({ file, does }) => [code(file), does]),
    ),
  tokens: () =>
    formatTable(
      ['Access token', 'What happens'],
      sandboxTokens.map(({ token, does }) => [code(token), does]),
    ),
  reviews: () =>
    formatTable(
      ['Name ends with', 'What happens'],
      [...reviewedNames.map(({ ending, does }) => [code(ending), does]), ['anything else', 'It is approved']],
    ),
  configuration: () =>
    formatTable(
      ['Variable', 'Default', 'Meaning'],
      Object.entries(Environment.shape).map(([name, variable]) => {
        const isSecret = (secretVariables as readonly string[]).includes(name)
        // A default that depends on the machine is only described.
        const preset = variable.type === 'prefault' ? variable.def.defaultValue : variable.meta()?.['default']
        return [
          isSecret ? `${code(name)}, ${code(`${name}_FILE`)}` : code(name),
          preset === undefined ? 'none' : code(String(preset)),
          variable.description ?? missing(name),
        ]
      }),
    ),
  metrics: async () =>
    formatTable(
      ['Metric', 'Meaning'],
      (await listMetrics()).map(({ name, help }) => [code(name), help]),
    ),
}

function missing(name: string): never {
  throw new Error(`${name} has no description`)
}

/** Returns the metrics of a process with all roles. The database is never opened, because nothing is collected. */
async function listMetrics(): Promise<{ name: string; help: string }[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'waybill-guides-'))
  const app = buildApp(readConfig({ WAYBILL_DATA_DIR: dataDir }), { log: createLogger('silent') })
  const registry = new Registry()
  const options = {
    trustedProxies: [],
    metricsToken: undefined,
    registry,
    sandbox: false,
    readState: () => 'serving' as const,
  }
  await createServer(app.deps, options)
  registerWorkerMetrics(registry, () => 0)
  registerOutcomesUnknownMetric(registry)
  countSends(app.deps.whatsapp, registry)
  registerClockMetric(registry)
  registerProcessMetrics(registry)
  registerEmailMetric(registry)
  registerRequestLogMetric(registry)
  registerChatMetric(registry)
  await rm(dataDir, { recursive: true })
  return registry
    .getMetricsAsArray()
    .map(({ name, help }) => ({ name, help }))
    .filter(({ name }) => name.startsWith('waybill_'))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function formatTable(head: string[], rows: Cell[][]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}

function formatWords(words: Readonly<Record<string, readonly string[]>>): string {
  return formatTable(
    ['Language', 'Words'],
    Object.entries(words).map(([language, list]) => [
      language,
      list.map((word) => code(word.toUpperCase())).join(', '),
    ]),
  )
}

function code(text: string): string {
  return `\`${text}\``
}

const block = /(<!-- generated:(\w+) -->\n)([\s\S]*?)(\n?<!-- \/generated:\2 -->)/g

/** Returns the text of a guide with its generated tables up to date. */
export async function fillTables(markdown: string): Promise<string> {
  const generated = new Map<string, string>()
  for (const [, , name = ''] of markdown.matchAll(block)) {
    const table = tables[name]
    if (!table) throw new Error(`unknown table "${name}"; known tables are ${Object.keys(tables).join(', ')}`)
    generated.set(name, await table())
  }
  return markdown.replaceAll(
    block,
    (_match, start: string, name: string, _table, end: string) =>
      `${start}\n${generated.get(name)}\n${end.startsWith('\n') ? end : `\n${end}`}`,
  )
}

/** Returns guides whose tables are out of date, ignoring the formatter's padding. */
export async function findOutdatedGuides(): Promise<{ file: string; text: string }[]> {
  const outdated: { file: string; text: string }[] = []
  for await (const name of glob('{guides,operating}/*.md', { cwd: docs })) {
    const file = path.join(docs, name)
    const current = await readFile(file, 'utf8')
    const text = await fillTables(current)
    if (withoutPadding(text) !== withoutPadding(current)) outdated.push({ file, text })
  }
  return outdated
}

function withoutPadding(markdown: string): string {
  return markdown
    .replaceAll(/ +/g, ' ')
    .replaceAll(/-{3,}:?/g, '---')
    .replaceAll(/\n{2,}/g, '\n')
}

if (import.meta.main) {
  const outdated = await findOutdatedGuides()
  const check = process.argv.includes('--check')
  for (const { file, text } of outdated)
    if (check) console.error(`${path.relative(process.cwd(), file)} is out of date. Update it: npm run guides`)
    else await writeFile(file, text)
  process.exitCode = check && outdated.length > 0 ? 1 : 0
}
