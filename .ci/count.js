// Plain JavaScript for whatever Node the machine has: names the tests that failed, then counts all of them in one line.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'

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

/** A log that was cut still ends with these lines, so they say what each test expected, and where. */
function failuresOf(report) {
  return (report.testResults ?? []).flatMap((file) => {
    const name = path.relative(process.cwd(), file.name)
    const tests = file.assertionResults.filter((test) => test.status === 'failed')
    if (tests.length === 0 && file.status === 'failed') return [`Failed: ${name}: ${summarize(file.message)}`]
    return tests.map((test) => `Failed: ${name} > ${test.fullName}: ${summarize(test.failureMessages?.[0])}`)
  })
}

/** The error, such as what a browser waited for, with the lines of the project it came from. */
function summarize(text = '') {
  const lines = stripVTControlCharacters(text)
    .replaceAll(`${process.cwd()}/`, '')
    .split('\n')
    .filter((line) => !/node_modules|node:internal/.test(line))
  const summary = lines.join(' ').replaceAll(/\s+/g, ' ')
  // What a browser did last is at the end.
  return summary.length <= 700 ? summary : `${summary.slice(0, 300)} … ${summary.slice(-400)}`
}

function sum(field) {
  return reports.reduce((total, report) => total + (report[field] ?? 0), 0)
}
