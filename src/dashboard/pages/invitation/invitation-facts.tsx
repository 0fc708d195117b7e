import type { z } from 'zod'
import type { Invitation } from '../../../../contracts/dashboard/owner.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { Facts } from '../../ui/facts.tsx'

const rights = { owner: 'Owner: may change everything', viewer: 'Viewer: sees everything, changes nothing' }

export function InvitationFacts({ invitation }: { invitation: z.output<typeof Invitation> }) {
  return (
    <Facts
      facts={[
        { name: 'Account', value: invitation.accountName },
        { name: 'E-mail', value: invitation.email },
        { name: 'Role', value: rights[invitation.role] },
        { name: 'Link ends', value: <DateTime at={invitation.expiresAt} /> },
      ]}
    />
  )
}
