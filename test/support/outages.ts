import type { TestDatabase } from './database.ts'

/** A database whose statements fail from `leave` to `comeBack`, as if its server did not answer. */
export function startOutages({ db }: Pick<TestDatabase, 'db'>) {
  let isAway = false
  let failures = 0
  return {
    /** How many statements have failed. */
    failures: () => failures,
    leave: () => void (isAway = true),
    comeBack: () => void (isAway = false),
    db: new Proxy(db, {
      get: (target, name) => {
        if (isAway) failures++
        if (isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    }),
  }
}
