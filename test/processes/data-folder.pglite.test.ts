import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEmbeddedInstallation, type Installation } from '../cli/installation.ts'
import { folderForTest } from '../support/lifetime.ts'
import { startServe } from '../support/process.ts'

describe('a data folder', () => {
  let waybill: Installation
  beforeEach(async () => {
    waybill = await createEmbeddedInstallation({ GRAPH_API_URL: 'http://127.0.0.1:9' })
  })
  afterEach(() => waybill.remove())

  async function listNames(): Promise<unknown[]> {
    const { items } = await waybill.json(['account', 'list'])
    return items.map(({ name }) => name)
  }

  test('belongs to one server: a second one exits and names the process that holds it', async () => {
    const { pid } = await waybill.serve()

    for (const command of ['serve', 'sandbox']) {
      const { exitCode, stdout, stderr } = await waybill.run([command])
      expect(exitCode).toBe(1)
      expect(stdout).toBe('')
      expect(stderr).toContain(`process ${pid} (waybill serve`)
    }
    expect(await listNames()).toEqual([])
  })

  test.runIf(process.platform === 'linux').each([
    { title: 'restarts its server with settings that return memory', env: {}, arenas: '1', restarts: true },
    { title: "keeps the operator's settings of memory", env: { MALLOC_ARENA_MAX: '4' }, arenas: '4', restarts: false },
  ])('$title', async ({ env, arenas, restarts }) => {
    const { pid, url } = await waybill.serve({ env })
    const [environment, line] = await Promise.all(
      ['environ', 'cmdline'].map(async (file) => (await readFile(`/proc/${pid}/${file}`, 'utf8')).split('\0')),
    )
    expect(environment).toContain(`MALLOC_ARENA_MAX=${arenas}`)
    expect(line?.some((argument) => argument.startsWith('--heap-growing-percent='))).toBe(restarts)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })

  test('keeps acknowledged changes after its server was killed', async () => {
    const server = await waybill.serve()
    await waybill.json(['account', 'create', '--name', 'Before'])

    await server.stop('SIGKILL')

    expect(await listNames()).toEqual(['Before'])
    const next = await waybill.serve()
    await waybill.json(['account', 'create', '--name', 'After'])
    await next.stop('SIGKILL')
    await waybill.serve()
    expect(await listNames()).toEqual(['Before', 'After'])
  })

  test('is created anew if its first start was stopped', async () => {
    const dataDir = path.join(await folderForTest(), 'data')
    const script = path.resolve(import.meta.dirname, '../../src/cli/waybill.js')
    const first = spawn(process.execPath, [script, 'serve'], {
      env: { PATH: process.env['PATH'], WAYBILL_DATA_DIR: dataDir, PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
      // The leader of a group, as in a terminal.
      detached: true,
    })
    const ended = Promise.all([text(first.stderr), once(first, 'exit')])
    await expect.poll(() => existsSync(path.join(dataDir, 'pgdata'))).toBe(true)

    process.kill(-(first.pid ?? NaN), 'SIGINT')

    const [stderr, [exitCode]] = await ended
    expect(stderr).toBe('Stopped while the embedded database was being created. The next start creates it anew.\n')
    expect(exitCode).toBe(1)
    const next = await startServe({ WAYBILL_DATA_DIR: dataDir })
    expect((await next.get('/readyz')).statusCode).toBe(200)
    next.kill('SIGTERM')
    expect((await next.exited).code).toBe(0)
  })

  test('runs concurrent commands sequentially', async () => {
    const names = ['A', 'B', 'C', 'D', 'E']

    await Promise.all(names.map((name) => waybill.json(['account', 'create', '--name', name])))

    expect((await listNames()).sort()).toEqual(names)
  })

  test('is created by one command while the others wait', async () => {
    const fresh = await createEmbeddedInstallation({}, { fresh: true })

    const [first, second] = await Promise.all(
      ['A', 'B'].map((name) => fresh.json(['account', 'create', '--name', name])),
    )

    const { items } = await fresh.json(['account', 'list'])
    expect(items.map(({ accountId }) => accountId).sort()).toEqual([first?.accountId, second?.accountId].sort())
    await fresh.remove()
  })

  test('lets commands wait while a server starts', async () => {
    const [server, created] = await Promise.all([
      waybill.serve(),
      waybill.json(['account', 'create', '--name', 'Early']),
    ])

    expect(created.name).toBe('Early')
    expect(await listNames()).toEqual(['Early'])
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
  })

  test('is accessible only to its owner', async () => {
    await waybill.serve()

    const modeOf = async (name: string) => (await stat(path.join(waybill.dataDir, name))).mode & 0o777
    expect(await modeOf('.')).toBe(0o700)
    expect(await modeOf('owner.json')).toBe(0o600)
    expect(await modeOf('secret.key')).toBe(0o600)
  })

  test("names its process without the command's arguments", async () => {
    const { pid } = await waybill.serve({ args: ['serve', '--role', 'api', '--json'] })

    const owner = JSON.parse(await readFile(path.join(waybill.dataDir, 'owner.json'), 'utf8'))
    expect(owner).toEqual({ pid, startedAt: expect.any(String), command: 'serve', socket: expect.any(String) })
  })

  test('may have a path that is too long for a socket', async () => {
    const long = await createEmbeddedInstallation({}, { folderName: 'd'.repeat(120) })
    const server = await long.serve()

    expect(await long.json(['account', 'create', '--name', 'Long'])).toMatchObject({ name: 'Long' })

    const { socket } = JSON.parse(await readFile(path.join(long.dataDir, 'owner.json'), 'utf8'))
    expect(socket.length).toBeLessThan(100)
    expect((await stat(path.dirname(socket))).mode & 0o777).toBe(0o700)
    await server.stop()
    await expect(stat(path.dirname(socket))).rejects.toMatchObject({ code: 'ENOENT' })
    await long.remove()
  })

  test('survives invalid input and idle connections on its socket', async () => {
    const server = await waybill.serve()
    const socketPath = path.join(waybill.dataDir, 'control.sock')

    for (const nonsense of ['\n', '{"argv":7}\n', '{"argv":["serve"]}\n', '{'.repeat(50_000) + '\n'])
      expect(await talk(socketPath, nonsense)).toMatch(/^\{"ok":false,/)
    connect(socketPath).destroy()
    const silent = connect(socketPath).on('error', () => undefined)

    expect(await listNames()).toEqual([])
    const stopped = await server.stop('SIGINT')
    expect(stopped.exitCode).toBe(0)
    expect(stopped.stderr).not.toContain('"level":"error"')
    silent.destroy()
  })
})

async function talk(socketPath: string, text: string): Promise<string> {
  const socket = connect(socketPath)
  socket.setEncoding('utf8')
  socket.write(text)
  let response = ''
  for await (const chunk of socket) response += chunk
  return response
}
