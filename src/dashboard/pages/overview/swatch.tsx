import styles from './overview.module.css'
import type { State } from './series.ts'

/** The colour of a state, beside its name. */
export function Swatch({ state }: { state: State }) {
  return <span className={styles['swatch']} data-state={state} aria-hidden />
}
