//! A plan of forty steps.

use plan_runtime::{Result, plan, tool};

/// Reads a table of the shop.
#[tool]
async fn extract(table: String, day: String) -> Result<u64> {
    Ok(table.len() as u64 + day.len() as u64)
}

/// Drops rows that make no sense.
#[tool]
async fn clean(rows: u64) -> Result<u64> {
    Ok(rows)
}

/// Puts rows into the warehouse.
#[tool]
async fn load(rows: u64, table: String) -> Result<u64> {
    Ok(rows + table.len() as u64)
}

/// Joins what was loaded.
#[tool]
async fn join(left: u64, right: u64) -> Result<u64> {
    Ok(left + right)
}

/// Publishes a figure.
#[tool]
async fn publish(rows: u64) -> Result<u64> {
    Ok(rows)
}

plan! {
    /// What happens each night.
    pub Nightly(
        /// Which day.
        day: String,
    ) -> u64 {
        /// Read the table of orders.
        #[retry(3)]
        step orders_read = Extract { table: "orders", day };
        step orders_clean = Clean { rows: orders_read };
        /// Load orders into the warehouse.
        #[timeout("5m")]
        step orders = Load { rows: orders_clean, table: "orders" };
        /// Read the table of customers.
        #[retry(3)]
        step customers_read = Extract { table: "customers", day };
        step customers_clean = Clean { rows: customers_read };
        /// Load customers into the warehouse.
        #[timeout("5m")]
        step customers = Load { rows: customers_clean, table: "customers" };
        /// Read the table of products.
        #[retry(3)]
        step products_read = Extract { table: "products", day };
        step products_clean = Clean { rows: products_read };
        /// Load products into the warehouse.
        #[timeout("5m")]
        step products = Load { rows: products_clean, table: "products" };
        /// Read the table of payments.
        #[retry(3)]
        step payments_read = Extract { table: "payments", day };
        step payments_clean = Clean { rows: payments_read };
        /// Load payments into the warehouse.
        #[timeout("5m")]
        step payments = Load { rows: payments_clean, table: "payments" };
        /// Read the table of refunds.
        #[retry(3)]
        step refunds_read = Extract { table: "refunds", day };
        step refunds_clean = Clean { rows: refunds_read };
        /// Load refunds into the warehouse.
        #[timeout("5m")]
        step refunds = Load { rows: refunds_clean, table: "refunds" };
        /// Read the table of visits.
        #[retry(3)]
        step visits_read = Extract { table: "visits", day };
        step visits_clean = Clean { rows: visits_read };
        /// Load visits into the warehouse.
        #[timeout("5m")]
        step visits = Load { rows: visits_clean, table: "visits" };
        /// Read the table of stock.
        #[retry(3)]
        step stock_read = Extract { table: "stock", day };
        step stock_clean = Clean { rows: stock_read };
        /// Load stock into the warehouse.
        #[timeout("5m")]
        step stock = Load { rows: stock_clean, table: "stock" };
        /// Read the table of suppliers.
        #[retry(3)]
        step suppliers_read = Extract { table: "suppliers", day };
        step suppliers_clean = Clean { rows: suppliers_read };
        /// Load suppliers into the warehouse.
        #[timeout("5m")]
        step suppliers = Load { rows: suppliers_clean, table: "suppliers" };
        step sales = Join { left: orders, right: products };
        step buyers = Join { left: orders, right: customers };
        step income = Join { left: payments, right: refunds };
        step interest = Join { left: visits, right: customers };
        step supply = Join { left: stock, right: suppliers };
        step margin = Join { left: sales, right: income };
        step demand = Join { left: sales, right: interest };
        step shortage = Join { left: demand, right: supply };
        step loyalty = Join { left: buyers, right: interest };
        step forecast = Join { left: margin, right: demand };
        step report = Join { left: forecast, right: shortage };
        step board = Join { left: report, right: loyalty };
        /// Publish the board.
        #[optional]
        step board_page = Publish { rows: board };
        /// Publish the shortage.
        #[optional]
        step shortage_page = Publish { rows: shortage };
        /// Publish the loyalty.
        #[optional]
        step loyalty_page = Publish { rows: loyalty };
        #[after(board_page, shortage_page, loyalty_page)]
        step done: u64 = board + shortage;
        done
    }
}
