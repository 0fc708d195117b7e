import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { request } from 'undici'
import { freePort, run } from '../support/postgres.ts'
import { Member, superuser } from './member.ts'

export type LeaderFault = 'kill' | 'pause' | 'cut off'

/** Three PostgreSQL servers that Patroni manages, with synchronous replication. */
export interface Cluster extends AsyncDisposable {
  /** Lists all servers. */
  url: string
  /** Takes the leader away, and resolves when another one is promoted. */
  failLeader(fault: LeaderFault): Promise<Failover>
  /** The state of each member, then the last lines of its logs. */
  describe(): Promise<string>
}

interface Failover {
  /** Resolves when a leader has committed a transaction, for which it needs a synchronous standby. */
  hasCommitted: Promise<void>
  /** Brings the old leader back, and resolves when all members work. */
  restore: () => Promise<void>
}

const names = ['one', 'two', 'three']
/** An election ends within the lease of a leader, 20 seconds, and a few rounds of Patroni. */
const patience = 120_000
/** After it, the operator of the cluster would help. */
const timeToFollow = 60_000

export async function startCluster(): Promise<Cluster> {
  await using resources = new AsyncDisposableStack()
  const user = await findUser('postgres')
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-cluster-'))
  resources.defer(() => rm(folder, { recursive: true, force: true }))
  const [etcdPort, patroni] = await Promise.all([startEtcd(folder, resources), installPatroni(folder)])
  const members: Member[] = []
  for (const name of names) members.push(resources.use(await Member.create({ name, folder, etcdPort, patroni, user })))
  await promisify(execFile)('chown', ['-R', `${user.uid}:${user.gid}`, folder])
  for (const member of members) member.start()
  await waitUntilWhole(members)
  const kept = resources.move()
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    url: `postgres://${superuser.username}:${superuser.password}@${hosts}/postgres?target_session_attrs=read-write`,
    failLeader: async (fault) => {
      const leader = await findLeader(members)
      const others = members.filter((member) => member !== leader)
      await begin(leader, fault)
      await until('another leader', others, async () => (await findLeaders(others)).length === 1)
      return {
        hasCommitted: waitForCommit(others),
        restore: async () => {
          await end(leader, fault)
          await waitUntilWhole(members)
        },
      }
    },
    describe: () => describe(members),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function findUser(name: string): Promise<{ uid: number; gid: number }> {
  const read = async (option: string) => Number((await promisify(execFile)('id', [option, name])).stdout)
  return { uid: await read('-u'), gid: await read('-g') }
}

/** Into the folder and with the system's Python, because the user of PostgreSQL may not read what belongs to root. */
async function installPatroni(folder: string): Promise<string> {
  const environment = path.join(folder, 'python')
  await promisify(execFile)('/usr/bin/python3', ['-m', 'venv', environment])
  const requirements = path.join(import.meta.dirname, 'requirements.txt')
  await promisify(execFile)(path.join(environment, 'bin/pip'), ['install', '--quiet', '--requirement', requirements])
  return path.join(environment, 'bin/patroni')
}

async function startEtcd(folder: string, resources: AsyncDisposableStack): Promise<number> {
  const [port, peerPort] = [await freePort(), await freePort()]
  const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
  const options = {
    name: 'etcd',
    'data-dir': path.join(folder, 'etcd'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `etcd=${peerUrl}`,
  }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const etcd = spawn('etcd', args, { stdio: 'ignore' })
  const exited = once(etcd, 'exit')
  resources.defer(async () => {
    etcd.kill('SIGKILL')
    await exited
  })
  await until('etcd', [], () =>
    request(`${url}/health`).then(
      ({ statusCode }) => statusCode === 200,
      () => false,
    ),
  )
  return port
}

async function findLeaders(members: readonly Member[]): Promise<Member[]> {
  const statuses = await Promise.all(members.map((member) => member.readStatus()))
  return members.filter((_, index) => {
    const status = statuses[index]
    return status?.role === 'primary' && status.state === 'running'
  })
}

async function findLeader(members: readonly Member[]): Promise<Member> {
  const [leader] = await findLeaders(members)
  if (!leader) throw new Error('the cluster has no leader')
  return leader
}

function waitUntilWhole(members: readonly Member[]): Promise<void> {
  return untilHelped('a leader and two standbys', members, () => isWhole(members))
}

/** One leads, and the others follow it, one of them synchronously and with the right to be promoted. */
async function isWhole(members: readonly Member[]): Promise<boolean> {
  const [leader, ...others] = await findLeaders(members)
  if (!leader || others.length > 0) return false
  return (await leader.listStreaming()).length === 2 && (await leader.readRoles()).includes('sync_standby')
}

/**
 * Patroni compares what a standby has applied with the history of the new leader, not what it has received. If that is more
 * than the promoted one had, but was not yet applied, the standby asks forever for changes that no server has.
 */
async function copyStuck(members: readonly Member[]): Promise<void> {
  const [leader] = await findLeaders(members)
  if (!leader) return
  const working = new Set([leader.name, ...(await leader.listStreaming())])
  for (const member of members) if (!working.has(member.name)) await member.copyAnew()
}

/** If the leader is demoted before it has committed, the next one is asked. */
function waitForCommit(members: readonly Member[]): Promise<void> {
  let commit: 'none' | 'waiting' | 'done' = 'none'
  return untilHelped('a commit', members, async () => {
    const [leader] = await findLeaders(members)
    if (leader && commit === 'none') {
      commit = 'waiting'
      void commitOn(leader).then(
        () => (commit = 'done'),
        () => (commit = 'none'),
      )
    }
    return commit === 'done'
  })
}

async function commitOn({ port }: Member): Promise<void> {
  const url = `postgres://${superuser.username}:${superuser.password}@127.0.0.1:${port}/postgres`
  await run(url, `select pg_logical_emit_message(true, 'cluster', 'committed')`)
}

/** Does what the operator of the cluster would do, whose standby may be stuck. */
function untilHelped(what: string, members: readonly Member[], isTrue: () => Promise<boolean>): Promise<void> {
  let stuckAt = Date.now() + timeToFollow
  return until(what, members, async () => {
    if (await isTrue()) return true
    if (Date.now() > stuckAt) {
      stuckAt = Date.now() + timeToFollow
      await copyStuck(members)
    }
    return false
  })
}

async function until(what: string, members: readonly Member[], isTrue: () => Promise<boolean>): Promise<void> {
  const endsAt = Date.now() + patience
  while (!(await isTrue())) {
    if (Date.now() > endsAt) throw new Error(`the cluster did not get ${what}\n${await describe(members)}`)
    await delay(50)
  }
}

async function describe(members: readonly Member[]): Promise<string> {
  const statuses = await Promise.all(members.map((member) => member.describe()))
  const logs = await Promise.all(members.map((member) => member.readLog()))
  return [...statuses, ...logs].join('\n')
}

async function begin(leader: Member, fault: LeaderFault): Promise<void> {
  switch (fault) {
    case 'kill':
      return leader.kill()
    case 'pause':
      return leader.pause()
    case 'cut off':
      return leader.cutOff()
  }
}

async function end(leader: Member, fault: LeaderFault): Promise<void> {
  switch (fault) {
    case 'kill':
      return leader.start()
    case 'pause':
      return leader.resume()
    case 'cut off':
      return leader.reconnect()
  }
}
