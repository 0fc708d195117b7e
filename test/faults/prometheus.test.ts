import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { freePort } from '../support/postgres.ts'
import { reportMissing, type ServeProcess, startServe } from '../support/process.ts'
import { createCustomer, openApp } from './customer.ts'
import { eventually } from '../support/eventually.ts'

const monitoring = path.resolve(import.meta.dirname, '../../src/http/docs/monitoring')
const rulesFile = path.join(monitoring, 'prometheus-rules.yml')
const example = sendMessage.example.input
const metricsToken = 'metrics-token'
const appSecret = 'test-app-secret'

interface Panel {
  type: string
  title: string
  targets?: { expr: string }[]
}

const dashboard = JSON.parse(readFileSync(path.join(monitoring, 'grafana-dashboard.json'), 'utf8')) as {
  panels: Panel[]
}
/** Every query of the dashboard, with Grafana's variables replaced as Grafana would. */
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr: expr.replaceAll('$job', 'waybill').replaceAll('$__rate_interval', '1m') })),
)

interface Result {
  metric: Record<string, string>
  value: [number, string]
}

interface Rule {
  name: string
  query: string
  health: string
  state: string
  lastError?: string
}

/** An input series of `promtool test rules`. */
const sample = (series: string, values: string) => ({ series, values })

/** Whether an alert fires after 50 minutes of these series. */
const alert = (name: string, isFiring: boolean, ...series: object[]) => {
  const labels = `ALERTS{alertname="${name}", alertstate="firing", severity="critical"}`
  const expr = `ALERTS{alertname="${name}", alertstate="firing"}`
  const exp_samples = isFiring ? [{ labels, value: 1 }] : []
  return { interval: '1m', input_series: series, promql_expr_test: [{ expr, eval_time: '50m', exp_samples }] }
}

describe.skipIf(!isInstalled())('with Prometheus', () => {
  let simulator: Simulator
  let folder: string
  let node: ServeProcess
  let prometheus: { url: string; stop(): Promise<void> }
  let apiKey: string

  beforeAll(async () => {
    simulator = await startSimulator()
    folder = await mkdtemp(path.join(tmpdir(), 'waybill-prometheus-'))
    const environment = {
      WAYBILL_DATA_DIR: path.join(folder, 'data'),
      GRAPH_API_URL: simulator.url,
      METRICS_TOKEN: metricsToken,
      META_APP_SECRET: appSecret,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    }
    const setUp = openApp(environment)
    const customer = await createCustomer(setUp, simulator)
    apiKey = customer.apiKey
    // No server listens there, so its deliveries fail.
    const url = `http://127.0.0.1:${await freePort()}/`
    await addEndpoint(setUp.deps, customer.accountId, { url, events: ['message.sent', 'message.delivered'] })
    await setUp.close()
    limitToken(3)
    node = await startServe(environment)
    simulator.reportTo({ url: `${node.url}/webhooks/whatsapp`, appSecret })
    prometheus = await startPrometheus(folder, node.url)
  })
  afterAll(async () => {
    await prometheus?.stop()
    node?.kill('SIGTERM')
    await node?.exited
    await simulator?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Sets the expiry of the token in days, which the next check finds. */
  function limitToken(days: number) {
    const expiresAt = Math.floor(Date.now() / 1000) + days * 86_400
    simulator.addToken(simulator.accessToken, { wabaIds: [simulator.wabaId], expiresAt })
  }

  async function ask<T>(where: string): Promise<T> {
    const { body } = await request(prometheus.url + where)
    const response = (await body.json()) as { status: string; error?: string; data: T }
    if (response.status !== 'success') throw new Error(`${where}: ${response.error}`)
    return response.data
  }

  const query = async (expr: string) =>
    (await ask<{ result: Result[] }>(`/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`)).result

  const readRules = async () => (await ask<{ groups: { rules: Rule[] }[] }>('/api/v1/rules')).groups[0]?.rules ?? []

  /** Alerts that are pending or firing. */
  const findActive = async () =>
    (await ask<{ alerts: { labels: Record<string, string> }[] }>('/api/v1/alerts')).alerts.map(
      ({ labels }) => labels['alertname'],
    )

  /** Generates typical traffic: sends of all kinds, statuses, deliveries, and a callback with a wrong signature. */
  async function useWaybill() {
    await node.send(apiKey, example)
    await node.send(apiKey, { ...example, to: '15550131026' })
    await request(`${node.url}/webhooks/whatsapp`, {
      method: 'POST',
      headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}`, 'content-type': 'application/json' },
      body: '{}',
    }).then(({ body }) => body.dump())
  }

  test('promtool accepts the rules', () => {
    expect(execFileSync('promtool', ['check', 'rules', rulesFile], { encoding: 'utf8' })).toContain('SUCCESS')
  })

  test('fires alerts for an unreachable database, missing messages and callbacks that stop', async () => {
    const up = sample('up{job="waybill"}', '1x60')
    const sends = sample('waybill_whatsapp_sends_total{job="waybill", outcome="accepted", code=""}', '0+10x60')
    const callbacks = (values: string) =>
      sample('waybill_whatsapp_callbacks_total{job="waybill", result="accepted"}', values)
    const missing = (values: string) => sample('waybill_whatsapp_statuses_missing_total{job="waybill"}', values)
    const database = (instance: string, values: string) =>
      sample(`waybill_database_reachable{job="waybill", instance="${instance}"}`, values)
    const file = path.join(folder, 'rules-test.yml')
    const content = {
      rule_files: [rulesFile],
      tests: [
        alert('WaybillDatabaseUnreachable', true, up, database('a', '1x60'), database('b', '0x60')),
        alert('WaybillDatabaseUnreachable', false, up, database('a', '1x60')),
        // No process of a supervised group answered in time.
        alert('WaybillDatabaseUnreachable', true, up),
        // WaybillDown fires instead.
        alert('WaybillDatabaseUnreachable', false, { ...up, values: '0x60' }),
        alert('WaybillMessagesMissing', true, missing('0x40 3x20')),
        alert('WaybillMessagesMissing', false, missing('0x60')),
        alert('WaybillCallbacksStopped', true, sends, callbacks('0+9x10 90x50')),
        alert('WaybillCallbacksStopped', false, sends, callbacks('0+1x60')),
        // Without sends, none is expected.
        alert('WaybillCallbacksStopped', false, callbacks('0x60')),
      ],
    }
    // JSON is YAML.
    await writeFile(file, JSON.stringify(content))

    expect(execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS')
  })

  test.each(queries)('the panel "$title" shows a value: $expr', async ({ expr }) => {
    await expect
      .poll(async () => {
        await useWaybill()
        return (await query(expr)).map(({ value }) => Number(value[1])).filter((value) => !Number.isNaN(value)).length
      })
      .toBeGreaterThan(0)
  })

  test('every rule is evaluated without an error, and reads metrics that exist', async () => {
    await expect
      .poll(async () => (await readRules()).map(({ health }) => health))
      .toEqual(Array.from({ length: 15 }, () => 'ok'))
    await useWaybill()

    const rules = await readRules()
    expect(rules.filter(({ lastError }) => lastError !== undefined && lastError !== '')).toEqual([])
    for (const { name, query: expr } of rules)
      for (const [metric] of expr.matchAll(/\b(?:waybill_\w+|up)(?=\{)/g))
        // Queries only the selector, because an inactive rule returns no result.
        await expect
          .poll(async () => ({ name, metric, series: (await query(`count(${metric}{job="waybill"})`)).length }))
          .toEqual({ name, metric, series: 1 })
  })

  test('fires alerts for failing tokens and dead servers', async () => {
    await expect.poll(findActive).toContain('WaybillTokenExpiring')
    expect(await findActive()).not.toContain('WaybillWhatsAppAccountUnhealthy')

    // Revoked at Meta.
    simulator.addPhoneNumber({ phoneNumberId: simulator.phoneNumberId, wabaId: simulator.wabaId, accessToken: 'new' })
    simulator.addToken(simulator.accessToken, { wabaIds: [], expiresAt: 1 })
    expect((await node.send(apiKey, example)).statusCode).toBe(400)

    await expect.poll(findActive).toContain('WaybillWhatsAppAccountUnhealthy')
    expect(await query('waybill_whatsapp_account_finding{finding="rejected", severity="error"}')).toHaveLength(1)
    expect(await query('waybill_whatsapp_sends_total{outcome="refused", code="190"}')).toHaveLength(1)

    node.kill('SIGKILL')
    await expect.poll(findActive).toContain('WaybillDown')
  })
})

test('the dashboard queries only metrics that the operating guide documents', () => {
  const guide = readFileSync(path.resolve(import.meta.dirname, '../../docs/operating/operating.md'), 'utf8')
  const documented = new Set([...guide.matchAll(/^\| `(waybill_\w+)`/gm)].map(([, name = '']) => name))
  const used = queries.flatMap(({ expr }) => [...expr.matchAll(/waybill_\w+/g)].map(([name]) => name))
  const known = (name: string) => documented.has(name.replace(/_(?:count|sum|bucket)$/, ''))

  expect(used.filter((name) => !known(name))).toEqual([])
  expect(dashboard.panels.filter(({ type, targets }) => type !== 'row' && !targets?.length)).toEqual([])
})

function isInstalled(): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v prometheus && command -v promtool'])
    return true
  } catch {
    reportMissing('this test', 'Prometheus (Debian: apt-get install prometheus)')
    return false
  }
}

/** Starts Prometheus with the rules of the guide, scraping Waybill every second. */
async function startPrometheus(folder: string, waybillUrl: string) {
  const port = await freePort()
  const file = path.join(folder, 'prometheus.yml')
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rulesFile],
    scrape_configs: [
      {
        job_name: 'waybill',
        authorization: { credentials: metricsToken },
        static_configs: [{ targets: [new URL(waybillUrl).host] }],
      },
    ],
  }
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config))
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path.join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => {
    const { statusCode, body } = await request(`${url}/-/ready`)
    await body.dump()
    if (statusCode !== 200) throw new Error('Prometheus is not ready')
  })
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
