import { AbortedTransactionError, DefaultQueryExecutor, PostgresDialect, Transaction } from 'kysely'
import type pg from 'pg'
import { rowsOf, runDirectly } from '../statement.ts'
import type { Database } from '../schema.ts'

const known = new WeakMap<pg.PoolClient, Promise<Transaction<Database>>>()

/**
 * Runs `work` in a transaction on a connection. Kysely creates an executor and a promise chain for each transaction, 20 KB
 * with four statements; here, a connection has one for all its transactions. `onBroken` is called if the rollback fails,
 * because the connection may still be in the transaction then.
 */
export async function runTransaction<Result>(
  client: pg.PoolClient,
  work: (trx: Transaction<Database>) => Promise<Result>,
  onBroken: () => void,
): Promise<Result> {
  const trx = await transactionOn(client)
  try {
    await client.query('begin')
    const result = await work(trx)
    const { command } = await client.query('commit')
    // The answer to the commit of a transaction in which a statement failed.
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
    return result
  } catch (error) {
    await client.query('rollback').catch(onBroken)
    throw error
  }
}

function transactionOn(client: pg.PoolClient): Promise<Transaction<Database>> {
  const transaction = known.get(client) ?? createTransaction(client)
  known.set(client, transaction)
  return transaction
}

async function createTransaction(client: pg.PoolClient): Promise<Transaction<Database>> {
  const pool = { connect: () => Promise.resolve(client), end: () => Promise.resolve(), options: {} }
  const dialect = new PostgresDialect({ pool })
  const driver = dialect.createDriver()
  await driver.init()
  const connection = await driver.acquireConnection()
  const executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), {
    provideConnection: (consume) => consume(connection),
  })
  const trx = new Transaction<Database>({ config: { dialect }, dialect, driver, executor })
  runDirectly(trx, { run: (text, values) => client.query<object>(text, values).then(rowsOf) })
  return trx
}
