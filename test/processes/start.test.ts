import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createInstallation, type Installation } from '../cli/installation.ts'

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
