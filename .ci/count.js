// Plain JavaScript for whatever Node the machine has: sums up the reports of the test runs in one line.
import { readFileSync } from 'node:fs'
import path from 'node:path'

const [folder, ...runs] = process.argv.slice(2)
const reports = runs.map(read)
const passed = sum('numPassedTests')
const failed = sum('numFailedTests') + reports.filter((report) => !report.success && report.numFailedTests === 0).length
const skipped = sum('numPendingTests') + sum('numTodoTests')

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

/** A run that ended without a report, or whose files do not even load, counts as one failure. */
function read(run) {
  try {
    return JSON.parse(readFileSync(path.join(folder, `${run}.json`), 'utf8'))
  } catch {
    return { success: false, numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 }
  }
}

function sum(field) {
  return reports.reduce((total, report) => total + (report[field] ?? 0), 0)
}
