import styles from './overview.module.css'
import type { State } from './series.ts'

/** A share as a length; what it says is said in figures beside it. */
export function Bar({ state, share }: { state: State; share: number }) {
  return (
    <div className={styles['bar']} aria-hidden>
      <div data-state={state} style={{ width: `${share * 100}%`, minWidth: share > 0 ? 3 : 0 }} />
    </div>
  )
}
