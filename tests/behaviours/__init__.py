"""What the documented operations do, written once and asked for over REST and over GraphQL."""
