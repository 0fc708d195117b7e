/** All facts, for the catalogues of the dashboard: every module that defines facts is listed here. */
import './changes.ts'
import './connect.ts'
import './deliveries.ts'
import './events.ts'
import './failures.ts'
import './findings.ts'
import './gallery.ts'
import './jobs.ts'
import './outcomes.ts'
import './samples.ts'

export { factTexts } from './fact.ts'
