import type { TestDatabase } from './database.ts'

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

/** A database whose statements fail between `begin` and `end`, by default as if its server refused connections. */
export function startOutages({ db }: Pick<TestDatabase, 'db'>, error: Error = refused) {
  let isDown = false
  let failures = 0
  return {
    /** How many statements have failed. */
    failures: () => failures,
    begin: () => void (isDown = true),
    end: () => void (isDown = false),
    db: new Proxy(db, {
      get: (target, name) => {
        if (isDown) failures++
        if (isDown) throw error
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    }),
  }
}
