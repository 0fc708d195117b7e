import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ApiAccess } from './use-api-access.ts'

/** Says that the allow-list leaves out the address that one is looking from. */
export function LockedOutAlert({ access: { you } }: { access: Pick<ApiAccess, 'you'> }) {
  if (you.allowed) return null
  return (
    <Alert
      color="yellow"
      mb="lg"
      icon={<IconAlertTriangle />}
      title={`Your address ${you.address} is not on the allow-list`}
      role="status"
    >
      Requests to the API from your address are refused. The dashboard keeps working. If your applications run
      elsewhere, all is well.
    </Alert>
  )
}
