import type { TestDatabase } from './database.ts'

/** A database whose statements fail between `begin` and `end`, as if its server refused connections. */
export function startOutages({ db }: Pick<TestDatabase, 'db'>) {
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
        if (isDown) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    }),
  }
}
