/**
 * Reports a missing requirement of a test. `.ci/run` requires every program to be installed, so there it is a failure;
 * elsewhere the test is skipped.
 */
export function reportMissing(what: string, missing: string): void {
  const text = `${what} needs ${missing}`
  if (process.env['REQUIRE_TOOLCHAINS'] === 'true') throw new Error(text)
  console.warn(`Skipped: ${text}.`)
}
