// Plain JavaScript for whatever Node the machine has: names the tests that failed, then counts all of them in one line.
import { readFileSync } from 'node:fs'
import path from 'node:path'

const [folder, ...runs] = process.argv.slice(2)
const reports = runs.map(read)
const passed = sum('numPassedTests')
const failed = sum('numFailedTests') + reports.filter((report) => !report.success && report.numFailedTests === 0).length
const skipped = sum('numPendingTests') + sum('numTodoTests')

for (const report of reports) for (const failure of failuresOf(report)) console.log(failure)
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

/** A log that was cut still ends with these lines, so they carry the first line of each error. */
function failuresOf(report) {
  return (report.testResults ?? []).flatMap((file) => {
    const name = path.relative(process.cwd(), file.name)
    const tests = file.assertionResults.filter((test) => test.status === 'failed')
    if (tests.length === 0 && file.status === 'failed') return [`Failed: ${name}: ${firstLine(file.message)}`]
    return tests.map((test) => `Failed: ${name} > ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`)
  })
}

function firstLine(text = '') {
  return text.split('\n', 1)[0].slice(0, 300)
}

function sum(field) {
  return reports.reduce((total, report) => total + (report[field] ?? 0), 0)
}
