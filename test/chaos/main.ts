/**
 * `npm run test:chaos` injects random faults into a real service under load and compares it with what clients, WhatsApp
 * and a webhook receiver observed. `--check <folder>` checks the ledger of an earlier round.
 */
import { parseArgs } from 'node:util'
import { runRound, type RoundOptions } from './campaign.ts'
import { check, type Violation } from './check.ts'
import { faultKinds, type FaultKind } from './faults.ts'
import { readLedger } from './ledger.ts'
import { maxRepeatedShare } from './repeated-webhooks.ts'
import { addFigures, countFigures, shareOfRepeatedWebhooks, toReport, type Figures } from './report.ts'

const usage = `npm run test:chaos -- [options]

  --database postgres|pglite  (postgres)
  --kills N                   stops after this many kills of server processes (100)
  --minutes M                 stops after this many minutes if that comes first (no limit)
  --round N                   kills per round; each round uses a new database (100)
  --faults a,b                faults to inject: ${faultKinds.join(', ')} (all)
  --seed N                    repeats the faults and messages of a seed (random)
  --settle S                  longest wait without progress after a round, in seconds (60)
  --keep                      keeps the ledgers of all rounds
  --check FOLDER              checks the ledger of an earlier round only`

const maxShown = 40

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'postgres' },
    kills: { type: 'string', default: '100' },
    minutes: { type: 'string', default: 'Infinity' },
    round: { type: 'string', default: '100' },
    faults: { type: 'string', default: faultKinds.join(',') },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    settle: { type: 'string', default: '60' },
    keep: { type: 'boolean', default: false },
    check: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(usage)
else if (values.check !== undefined) checkAgain(values.check)
else await runCampaign()

function checkAgain(folder: string): void {
  const entries = readLedger(folder)
  const violations = check(entries)
  const figures = countFigures(entries)
  console.log(toReport(figures, violations))
  showRepeatedWebhooks(figures)
  showViolations(violations)
}

async function runCampaign(): Promise<void> {
  const options = readOptions()
  const [kills, endsAt] = [readNumber('kills'), Date.now() + readNumber('minutes') * 60_000]
  console.log(`--database ${options.database} --seed ${options.seed} --faults ${options.faults.join(',')}`)
  if (options.database === 'pglite' && options.faults.includes('database'))
    console.log('Database faults are skipped: the embedded database has no process of its own.')
  let total: Figures = {}
  const violations: Violation[] = []
  for (let seed = options.seed, done = 0; done < kills && Date.now() < endsAt; seed++) {
    const minutes = (endsAt - Date.now()) / 60_000
    const round = await runRound({ ...options, seed, kills: Math.min(options.kills, kills - done), minutes })
    done += round.kills
    total = addFigures(total, countFigures(round.entries))
    violations.push(...round.violations)
    console.log(
      `${new Date().toISOString()} seed ${seed}: ${done} kills so far, ${round.violations.length} violations in this round`,
    )
    if (round.violations.length > 0 || options.keep) console.log(`  ledger: ${round.folder}/ledger`)
  }
  console.log(`\n${toReport(total, violations)}`)
  showRepeatedWebhooks(total)
  showViolations(violations)
}

function showRepeatedWebhooks(figures: Figures): void {
  const share = shareOfRepeatedWebhooks(figures)
  console.log(`\nWebhooks sent again after a 2xx: ${(share * 100).toFixed(2)} % (at most ${maxRepeatedShare * 100} %)`)
  if (share > maxRepeatedShare) process.exitCode = 1
}

function showViolations(violations: readonly Violation[]): void {
  if (violations.length === 0) return
  process.exitCode = 1
  console.log()
  for (const { check, id, problem } of violations.slice(0, maxShown)) console.log(`${check}: ${id}: ${problem}`)
  if (violations.length > maxShown) console.log(`… and ${violations.length - maxShown} more`)
}

function readOptions(): RoundOptions {
  const { database } = values
  if (database !== 'postgres' && database !== 'pglite')
    throw new Error(`--database must be postgres or pglite\n\n${usage}`)
  return {
    database,
    seed: readNumber('seed'),
    kills: readNumber('round'),
    minutes: readNumber('minutes'),
    faults: values.faults.split(',').map(readFault),
    settleSeconds: readNumber('settle'),
    keep: values.keep,
  }
}

function readNumber(name: 'seed' | 'kills' | 'round' | 'minutes' | 'settle'): number {
  const value = Number(values[name])
  if (!(value >= 0)) throw new Error(`--${name} must be a number of at least 0\n\n${usage}`)
  return value
}

function readFault(name: string): FaultKind {
  const found = faultKinds.find((kind) => kind === name)
  if (!found) throw new Error(`unknown fault "${name}"\n\n${usage}`)
  return found
}
