import { AbortedTransactionError, DefaultQueryExecutor, PostgresDialect, Transaction } from 'kysely'
import type pg from 'pg'
import { rowsOf, runDirectly } from '../statement.ts'
import type { Database } from '../schema.ts'

interface ReusedTransaction {
  trx: Transaction<Database>
  /** A statement outside of a transaction would be part of that of another caller. */
  isActive: boolean
}

const known = new WeakMap<pg.PoolClient, Promise<ReusedTransaction>>()

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
  const transaction = await transactionOn(client)
  let result: Result
  let command: string
  try {
    await client.query('begin')
    transaction.isActive = true
    result = await work(transaction.trx)
    transaction.isActive = false
    ;({ command } = await client.query('commit'))
  } catch (error) {
    transaction.isActive = false
    await client.query('rollback').catch(onBroken)
    throw error
  }
  // The answer to the commit of a transaction in which a statement failed.
  if (command === 'ROLLBACK') throw new AbortedTransactionError()
  return result
}

function transactionOn(client: pg.PoolClient): Promise<ReusedTransaction> {
  const transaction = known.get(client) ?? createTransaction(client)
  known.set(client, transaction)
  return transaction
}

async function createTransaction(client: pg.PoolClient): Promise<ReusedTransaction> {
  const pool = { connect: () => Promise.resolve(client), end: () => Promise.resolve(), options: {} }
  const dialect = new PostgresDialect({ pool })
  const driver = dialect.createDriver()
  await driver.init()
  const connection = await driver.acquireConnection()
  const executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), {
    provideConnection: (consume) => (transaction.isActive ? consume(connection) : rejectEnded()),
  })
  const trx = new Transaction<Database>({ config: { dialect }, dialect, driver, executor })
  const transaction: ReusedTransaction = { trx, isActive: false }
  runDirectly(trx, {
    run: (text, values) => (transaction.isActive ? client.query<object>(text, values).then(rowsOf) : rejectEnded()),
  })
  return transaction
}

function rejectEnded(): Promise<never> {
  return Promise.reject(new Error('the transaction has ended'))
}
