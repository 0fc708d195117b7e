import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { request } from 'undici'
import { signalTree } from '../support/signal-tree.ts'
import { freePort } from '../support/postgres.ts'
import { type Gate, openGate } from './gate.ts'

/** What Patroni says about itself (`GET /patroni`). */
interface PatroniStatus {
  role: string
  state: string
  /** The standbys of a leader. */
  replication?: { application_name: string; state: string; sync_state: string }[]
}

export interface MemberOptions {
  name: string
  /** Of the whole cluster. Owned by the user of PostgreSQL. */
  folder: string
  etcdPort: number
  /** The program. */
  patroni: string
  /** The user of PostgreSQL, which does not run as root. */
  user: { uid: number; gid: number }
}

const postgresLog = 'postgresql.log'
const binaries = '/usr/lib/postgresql/15/bin'
export const superuser = { username: 'postgres', password: 'cluster' }

/** A PostgreSQL server that Patroni manages, on a machine of its own: everything that others say to it passes gates. */
export class Member implements AsyncDisposable {
  readonly name: string
  /** The port at which Waybill and the other members reach PostgreSQL. */
  readonly port: number
  readonly #options: MemberOptions
  readonly #gates: readonly Gate[]
  readonly #patroniPort: number
  readonly #configFile: string
  #patroni: ChildProcess | undefined

  private constructor(options: MemberOptions, gates: readonly Gate[], ports: { postgres: number; patroni: number }) {
    this.name = options.name
    this.#options = options
    this.#gates = gates
    this.#patroniPort = ports.patroni
    this.port = ports.postgres
    this.#configFile = path.join(options.folder, `${options.name}.json`)
  }

  static async create(options: MemberOptions): Promise<Member> {
    const ports = { postgres: await freePort(), patroni: await freePort() }
    const [postgres, patroni, etcd] = [
      await openGate(ports.postgres),
      await openGate(ports.patroni),
      await openGate(options.etcdPort),
    ]
    const member = new Member(options, [postgres, patroni, etcd], { postgres: postgres.port, patroni: ports.patroni })
    // JSON is YAML.
    const config = describe(options, {
      postgres: { inside: ports.postgres, outside: postgres.port },
      patroni: { inside: ports.patroni, outside: patroni.port },
      etcd: etcd.port,
    })
    await writeFile(member.#configFile, JSON.stringify(config))
    await mkdir(member.#logFolder)
    return member
  }

  get #logFolder(): string {
    return path.join(this.#options.folder, `${this.name}-log`)
  }

  /** The last lines of the logs of Patroni and PostgreSQL. */
  async readLog(): Promise<string> {
    const logs = ['patroni.log', postgresLog].map(async (name) => {
      const text = await readFile(path.join(this.#logFolder, name), 'utf8').catch(() => '')
      return `${this.name}, ${name}:\n${text.split('\n').slice(-15).join('\n')}`
    })
    return (await Promise.all(logs)).join('\n')
  }

  start(): void {
    this.#patroni = spawn(this.#options.patroni, [this.#configFile], { ...this.#options.user, stdio: 'ignore' })
  }

  /** Undefined while it does not run or is paused. */
  readStatus(): Promise<PatroniStatus | undefined> {
    return this.#ask<PatroniStatus>('/patroni')
  }

  /** Its role and state in a line. */
  async describe(): Promise<string> {
    const { role, state, replication = [] } = (await this.readStatus()) ?? { role: 'not answering' }
    const standbys = replication.map((standby) => `${standby.application_name} ${standby.state} ${standby.sync_state}`)
    return `${this.name}: ${[role, state, ...standbys].join(', ')}; all: ${(await this.readRoles()).join(', ')}`
  }

  /** The names of the standbys that follow this leader. */
  async listStreaming(): Promise<string[]> {
    const { replication = [] } = (await this.readStatus()) ?? {}
    return replication.filter(({ state }) => state === 'streaming').map((standby) => standby.application_name)
  }

  /** The roles of all members, as stored in etcd (`GET /cluster`). */
  async readRoles(): Promise<string[]> {
    const answer = await this.#ask<{ members: { role: string }[] }>('/cluster')
    return (answer?.members ?? []).map(({ role }) => role)
  }

  /** Replaces its data by those of the leader (`patronictl reinit`). Does nothing while it does not run. */
  async copyAnew(): Promise<void> {
    await this.#ask('/reinitialize', { method: 'POST', body: JSON.stringify({ force: true }) })
  }

  async #ask<Answer>(path: string, options?: { method: 'POST'; body: string }): Promise<Answer | undefined> {
    try {
      const { body } = await request(`http://127.0.0.1:${this.#patroniPort}${path}`, {
        ...options,
        signal: AbortSignal.timeout(1_000),
      })
      return (await body.json()) as Answer
    } catch {
      return undefined
    }
  }

  /** The machine loses its power. */
  async kill(): Promise<void> {
    const patroni = this.#patroni
    if (!patroni?.pid || patroni.exitCode !== null || patroni.signalCode !== null) return
    const exited = once(patroni, 'exit')
    const postmaster = await this.#findPostmaster()
    // Patroni first, so that it restarts nothing.
    patroni.kill('SIGKILL')
    await exited
    if (postmaster !== undefined) await signalTree(postmaster, 'SIGKILL')
  }

  /** The machine stands still. */
  async pause(): Promise<void> {
    await this.#signal('SIGSTOP')
  }

  async resume(): Promise<void> {
    await this.#signal('SIGCONT')
  }

  async #signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.#patroni?.kill(signal)
    const postmaster = await this.#findPostmaster()
    if (postmaster !== undefined) await signalTree(postmaster, signal)
  }

  async #findPostmaster(): Promise<number | undefined> {
    const file = path.join(this.#options.folder, this.name, 'postmaster.pid')
    const [pid] = (await readFile(file, 'utf8').catch(() => '')).split('\n')
    return pid ? Number(pid) : undefined
  }

  /** The machine loses its network. */
  cutOff(): void {
    for (const gate of this.#gates) gate.close()
  }

  reconnect(): void {
    for (const gate of this.#gates) gate.open()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    for (const gate of this.#gates) await gate[Symbol.asyncDispose]()
  }
}

interface Ports {
  postgres: { inside: number; outside: number }
  patroni: { inside: number; outside: number }
  etcd: number
}

/** Patroni's configuration (patroni.readthedocs.io, "YAML Configuration Settings"). */
function describe({ name, folder }: MemberOptions, ports: Ports): object {
  return {
    scope: 'waybill',
    name,
    restapi: { listen: `127.0.0.1:${ports.patroni.inside}`, connect_address: `127.0.0.1:${ports.patroni.outside}` },
    etcd3: { hosts: [`127.0.0.1:${ports.etcd}`], use_proxies: true },
    log: { dir: path.join(folder, `${name}-log`) },
    bootstrap: {
      dcs: {
        // The least that Patroni recommends. After a promotion, its loop can stand still for seconds: a shorter lease ends
        // during that time, and the new leader demotes itself.
        ttl: 20,
        loop_wait: 1,
        retry_timeout: 3,
        // A commit waits for a standby, also while there is none.
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: {
          use_pg_rewind: true,
          // A former leader whose changes cannot be undone is copied from the new one.
          remove_data_directory_on_rewind_failure: true,
          remove_data_directory_on_diverged_timelines: true,
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication all 127.0.0.1/32 scram-sha-256',
      ],
    },
    postgresql: {
      listen: `127.0.0.1:${ports.postgres.inside}`,
      connect_address: `127.0.0.1:${ports.postgres.outside}`,
      data_dir: path.join(folder, name),
      bin_dir: binaries,
      pgpass: path.join(folder, `${name}.pgpass`),
      // By default, a copy waits for a checkpoint that the leader spreads over minutes while it is busy.
      basebackup: { checkpoint: 'fast' },
      authentication: { superuser, replication: { username: 'replicator', password: 'cluster' } },
      parameters: {
        unix_socket_directories: folder,
        logging_collector: 'on',
        log_directory: path.join(folder, `${name}-log`),
        log_filename: postgresLog,
        max_connections: 200,
        // A leader that is cut off waits for its standbys before it stops.
        wal_sender_timeout: '5s',
        wal_receiver_timeout: '5s',
      },
    },
  }
}
