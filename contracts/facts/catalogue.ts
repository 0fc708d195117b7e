/** All facts, for the catalogues of the dashboard: every module that defines facts is listed here. */
import './connect.ts'
import './failures.ts'
import './findings.ts'

export { factTexts } from './fact.ts'
