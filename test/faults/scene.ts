import type { App } from '../../src/app.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { forFile } from '../support/lifetime.ts'
import { type RunningPostgres, startPostgres } from '../support/postgres.ts'
import { createCustomer, environmentOf, openApp } from './customer.ts'

interface Scene {
  postgres: RunningPostgres
  simulator: Simulator
  /** Of the processes that a test starts. */
  environment: Record<string, string>
  /** Reads and changes the database in the process of the test. */
  app: App
  accountId: string
  apiKey: string
}

/** A PostgreSQL server of its own and a customer who can send through the simulator, until the tests of the file end. */
export async function openScene(
  more: Record<string, string> = {},
  prepare: (simulator: Simulator) => void = () => {},
): Promise<Scene> {
  const postgres = await forFile(startPostgres())
  const simulator = await forFile(startSimulator())
  prepare(simulator)
  const environment = { ...environmentOf(postgres.url, simulator), ...more }
  const app = await forFile(openApp(environment))
  return { postgres, simulator, environment, app, ...(await createCustomer(app, simulator)) }
}
