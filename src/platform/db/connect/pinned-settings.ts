/**
 * Settings that statements, and `pg` when it parses values, rely on. A role or database can have others (ALTER ROLE or
 * ALTER DATABASE … SET). Statements have timeouts of their own, so a timeout of the role must not end a migration.
 */
const pinned = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  transform_null_equals: 'off',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  idle_session_timeout: '0',
} as const satisfies Record<string, string>

const settings = Object.entries(pinned).map(([name, value]) => `set_config('${name}', '${value}', false)`)

/**
 * Runs first on every connection, and says whether it allows no writes. A statement, because poolers drop or reject
 * options of a connection.
 */
export const pinSettings = `select ${settings.join(', ')},
  pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as is_read_only,
  case when current_setting('transaction_timeout', true) is not null
    then set_config('transaction_timeout', '0', false) end`
