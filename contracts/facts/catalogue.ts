/** All facts, for the catalogues of the dashboard: every module that defines facts is listed here. */
import './failures.ts'

export { factTexts } from './fact.ts'
