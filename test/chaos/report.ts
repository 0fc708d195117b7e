import { checks, type Violation } from './check.ts'
import { toHistory, type History } from './history.ts'
import type { Entry } from './ledger.ts'
import { findNeverDispatched, listKilledInBetween } from './never-dispatched.ts'
import { countRepeatedWebhooks } from './repeated-webhooks.ts'

/** The counts of one round; counts of several rounds are added. */
export type Figures = Record<string, number>

export function countFigures(entries: readonly Entry[]): Figures {
  const history = toHistory(entries)
  const { attempts, upstream, events, webhooks, nodes, listed } = history
  const answers = [...attempts.values()].flat().map(({ answer }) => answer?.outcome)
  const status = (wanted: number) =>
    answers.filter((each) => each?.kind === 'answered' && each.status === wanted).length
  const messages = [...upstream.values()]
  const lives = (change: string) => nodes.filter((node) => node.change === change).length
  const inBetween = new Set(listKilledInBetween(history).map(({ externalId }) => externalId))
  const repeated = countRepeatedWebhooks(history)
  const released = findNeverDispatched(history).filter(({ key }) => !inBetween.has(key))
  return {
    'kills of server processes': lives('killed'),
    'kills during start': countKillsWhileStarting(history),
    pauses: lives('paused'),
    ...countFaults(history),
    'idempotency keys': attempts.size,
    'send requests': answers.length,
    'answered 200': status(200),
    'answered 409': status(409),
    'answered 422': status(422),
    'answered 429': status(429),
    'answered 503': status(503),
    'answered 504': status(504),
    'without a response': answers.filter((each) => each?.kind !== 'answered').length,
    'messages stored by Waybill': listed.size,
    'messages received by WhatsApp': messages.length,
    'messages accepted by WhatsApp': messages.filter(({ accepted }) => accepted.length > 0).length,
    'received by /marketing_messages': messages.filter(({ endpoints }) => endpoints.includes('marketing_messages'))
      .length,
    'sent by the other endpoint then': messages.filter(
      ({ misrouted, endpoints }) => misrouted < endpoints.length && misrouted > 0,
    ).length,
    'ended between the endpoints': messages.filter(
      ({ misrouted, endpoints }) => misrouted > 0 && misrouted === endpoints.length,
    ).length,
    'statuses acknowledged': messages.flatMap(({ statuses }) => statuses.filter(({ acknowledged }) => acknowledged))
      .length,
    events: events.length,
    'webhooks received': [...webhooks.values()].flat().length,
    [acknowledged]: repeated.acknowledged,
    [repeatedAfterSuccess]: repeated.repeated,
    '  answer read, not recorded': repeated.read,
    '  answer unread': repeated.unread,
    'imports, uploads and templates acknowledged': history.work.length,
    'unknown outcomes at the end': [...listed.values()].filter((message) => message.status === 'pending').length,
    'kills between mark and write': inBetween.size,
    'keys blocked by undispatched messages': released.length,
    [longest]: Math.max(0, ...released.map(({ milliseconds }) => milliseconds)),
  }
}

const acknowledged = 'webhooks acknowledged'
const repeatedAfterSuccess = 'repeated after a 2xx'
const longest = 'longest wait for a key release, ms'

export function shareOfRepeatedWebhooks(figures: Figures): number {
  return (figures[repeatedAfterSuccess] ?? 0) / (figures[acknowledged] || 1)
}

export function addFigures(a: Figures, b: Figures): Figures {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries(
    [...names].map((name) => {
      const values = [a[name] ?? 0, b[name] ?? 0] as const
      return [name, name === longest ? Math.max(...values) : values[0] + values[1]]
    }),
  )
}

function countFaults({ faults }: History): Figures {
  const begun = faults.filter(({ phase, fault }) => phase === 'begin' && fault !== 'pause')
  const named = begun.map(({ fault, detail = '' }) => `${fault}: ${fault === 'clock' ? detail.split(' ')[0] : detail}`)
  return Object.fromEntries(named.toSorted().map((name) => [name, named.filter((each) => each === name).length]))
}

function countKillsWhileStarting({ nodes }: History): number {
  const ready = new Set(nodes.filter(({ change }) => change === 'ready').map(({ node, life }) => `${node} ${life}`))
  return nodes.filter(({ change, node, life }) => change === 'killed' && !ready.has(`${node} ${life}`)).length
}

/** Two tables: the injected faults with the traffic, and the violations by check. */
export function toReport(figures: Figures, violations: readonly Violation[]): string {
  const found = Object.keys(checks).map((name) => [
    name,
    violations.filter(({ check }) => check === name).length,
  ]) satisfies [string, number][]
  return `${toTable(Object.entries(figures))}\n\nViolations\n${toTable(found)}`
}

/** The number of each problem and its first ID, for a test whose log may be cut. */
export function summarize(violations: readonly Violation[]): string {
  const groups = Map.groupBy(violations, ({ check, problem }) => `${check}: ${problem}`)
  return [...groups].map(([problem, of]) => `${of.length} × ${problem} (${of[0]?.id})`).join('; ')
}

function toTable(rows: [name: string, value: number][]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${String(value).padStart(8)}`).join('\n')
}
