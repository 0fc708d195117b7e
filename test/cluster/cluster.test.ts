import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { runUnderLoad, type ServiceParts } from '../chaos/campaign.ts'
import { countFigures, summarize, toReport } from '../chaos/report.ts'
import { type Cluster, type LeaderFault, startCluster } from './cluster.ts'

const faults = ['kill', 'pause', 'cut off', 'kill', 'cut off'] as const satisfies LeaderFault[]
/** Messages of the load before the next fault. */
const messagesBetween = 200
/** Longer than the cluster may take until it can commit. */
const longestPause = 180_000
/** After this, the output of the processes says what they waited for. */
const surprisingSeconds = 10

test('loses and doubles nothing while the leaders of a cluster fail', async () => {
  requireInstalled()
  await using resources = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-failovers-'))
  const cluster = resources.use(await startCluster())
  // After a timeout, it still runs.
  onTestFailed(async () => console.error(await cluster.describe()))

  const { entries, violations, result } = await runUnderLoad(
    {
      folder,
      seed: 1,
      databaseUrl: cluster.url,
      roles: ['api', 'api', 'worker', 'worker'],
      clocksJump: false,
      settleSeconds: 60,
    },
    (parts) => failLeaders(cluster, parts),
  )

  console.log(toReport(countFigures(entries), violations))
  console.log('Seconds after the promotion:')
  for (const { fault, committed, sent } of result)
    console.log(`${fault}: PostgreSQL committed ${committed}, sent ${sent}`)
  expect(violations, `ledger in ${folder}/ledger: ${summarize(violations)}`).toEqual([])
  expect(result).toHaveLength(faults.length)
  await rm(folder, { recursive: true, force: true })
})

interface Resumed {
  fault: LeaderFault
  /** Seconds from the promotion until the new leader could commit, and until a send was acknowledged. */
  committed: string
  sent: string
}

async function failLeaders(cluster: Cluster, { nodes, load, ledger }: ServiceParts): Promise<Resumed[]> {
  const resumed: Resumed[] = []
  const waitForSends = async (count: number) => {
    const goal = load.answered.size + count
    let sent = load.answered.size
    let endsAt = Date.now() + longestPause
    while (sent < goal) {
      await delay(10)
      if (load.answered.size > sent) endsAt = Date.now() + longestPause
      sent = load.answered.size
      if (Date.now() > endsAt) throw new Error(await describe(cluster, nodes, 'no send was acknowledged'))
    }
  }
  for (const fault of faults) {
    await waitForSends(messagesBetween)
    // As in the campaign, a process may fail to start while the database is away.
    ledger.write({ kind: 'fault', fault: 'database', phase: 'begin', detail: fault })
    const { hasCommitted, restore } = await cluster.failLeader(fault)
    const promotedAt = performance.now()
    const since = () => (performance.now() - promotedAt) / 1000
    const [committed, sent] = await Promise.all([hasCommitted.then(since), waitForSends(1).then(since)])
    if (sent > committed + surprisingSeconds) console.log(await describe(cluster, nodes, 'sends resumed late'))
    resumed.push({ fault, committed: committed.toFixed(1), sent: sent.toFixed(1) })
    ledger.write({ kind: 'fault', fault: 'database', phase: 'end', detail: fault })
    await restore()
  }
  await waitForSends(messagesBetween)
  return resumed
}

async function describe(cluster: Cluster, nodes: ServiceParts['nodes'], problem: string): Promise<string> {
  const processes = nodes.map(({ state, output }) => [state, ...output.slice(-10)].join('\n'))
  return [problem, await cluster.describe(), ...processes].join('\n')
}

/** The test has a command of its own, so it fails where it cannot run. */
function requireInstalled(): void {
  try {
    execFileSync('etcd', ['--version'])
    execFileSync('/usr/bin/python3', ['-c', 'import ensurepip'])
  } catch (error) {
    throw new Error('Install the Debian packages etcd-server, python3-venv and postgresql-15', { cause: error })
  }
  if (process.getuid?.() !== 0) throw new Error('Run it as root, which starts PostgreSQL as another user')
}
