import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createInstallation, type Installation } from '../cli/installation.ts'
import { forTest } from '../support/lifetime.ts'

/** Runs first in a server process and writes the URL of each module to a file. */
const recorder = `
  import { appendFileSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.LOADED_MODULES, url + '\\n')
      return next(url, context)
    },
  })`

describe('a server on PostgreSQL', () => {
  let waybill: Installation
  beforeAll(async () => {
    waybill = await createInstallation()
  })
  afterAll(() => waybill.remove())

  test('starts without packages that only some requests need', async () => {
    const file = path.join(path.dirname(waybill.dataDir), 'modules.txt')
    await waybill.run(['migrate'])
    const server = await waybill.serve({
      env: { LOADED_MODULES: file, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(recorder)}` },
    })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await server.stop()

    const loaded = (await readFile(file, 'utf8')).split('\n')
    const packages = new Set(loaded.map((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]))
    expect(packages).toContain('fastify')
    for (const name of [
      '@electric-sql/pglite',
      '@fastify/ajv-compiler',
      '@modelcontextprotocol/server',
      'better-auth',
      'ajv',
      'nodemailer',
      'yaml',
    ])
      expect(packages).not.toContain(name)
    // undici's index loads `fetch` and its caches, which Waybill does not use.
    expect(loaded.filter((url) => /undici\/(index\.js|lib\/(mock|cache|interceptor)\/)/.test(url))).toEqual([])
    expect(loaded.filter((url) => url.includes('/whatsapp/simulator/simulator.'))).toEqual([])
  })

  test('restarts with a large young generation for --memory large, under the same process ID', async () => {
    await waybill.run(['migrate'])
    const server = await waybill.serve({ args: ['serve', '--memory', 'large'] })
    try {
      const { stdout } = await promisify(execFile)('ps', ['-o', 'args=', '-p', String(server.pid)])
      expect(stdout).toContain('--min-semi-space-size=')
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    } finally {
      expect(await server.stop()).toMatchObject({ exitCode: 0 })
    }
  })
})

/** An SMTP server whose response to a client never ends, so that neither silence nor the client ends a connection. */
async function startEndlessSmtp() {
  const clients: string[] = []
  const smtp = createServer((socket) => {
    socket.write('220 smtp.example.com\r\n')
    socket.once('data', (greeting) => {
      clients.push(String(greeting))
      const timer = setInterval(() => socket.write('250-smtp.example.com\r\n'), 1_000)
      socket.on('close', () => clearInterval(timer))
    })
    socket.on('error', () => {})
  })
  await once(smtp.listen(0, '127.0.0.1'), 'listening')
  return { clients, port: (smtp.address() as AddressInfo).port, close: () => void smtp.close() }
}

test('a server ends although an SMTP server never ends its response', async () => {
  const smtp = await forTest(startEndlessSmtp())
  const waybill = await createInstallation()
  await forTest({ close: () => waybill.remove() })
  await waybill.run(['migrate'])
  const { accountId } = await waybill.json(['account', 'create', '--name', 'Shop'])
  const env = {
    WAYBILL_PUBLIC_URL: 'https://waybill.example.com',
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    SMTP_FROM: 'alerts@example.com',
  }
  const server = await waybill.serve({ env })
  await waybill.json(['owner', 'invite', accountId, '--email', 'ada@example.com', '--send'], { env })
  await expect.poll(() => smtp.clients).toHaveLength(1)

  expect(await server.stop()).toMatchObject({ exitCode: 0 })
})
