plan! {
    pub Refund(customer: String) -> serde_json::Value {
        /// Find what the customer ordered.
        step find_orders = SearchOrders {
            customer,
            limit: 5,
            ..
        };

        /// See whether the latest order can still be returned.
        step check = CheckReturn {
            order_id: find_orders.orders[0].order_id,
            items: find_orders.orders[0].items[..].sku,
            ..
        };

        /// Pay it back.
        step refund = PayBack {
            order_id: find_orders.orders[0].order_id,
            cents: check.cents,
            reason: format!(
                "Return of {}: {}",
                find_orders.orders[0].order_id,
                check.reason,
            ),
            ..
        };

        json!({ "find-orders": find_orders, "check": check, "refund": refund })
    }
}
